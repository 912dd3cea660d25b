/**
 * What a provider says of its failure, for people: the sentence in the JSON that most of them send.
 * Part of `agent/`; used by the terminal and by `bough -p`. The session keeps the text as it came.
 */

/** Where the sentence stands, in the order they are looked for: OpenAI's and Anthropic's, FastAPI's and plain ones. */
const SENTENCES = ["message", "detail", "error"].map(textMember);
/** What a gateway was told by the provider behind it (OpenRouter). */
const INNER = textMember("raw");
/** A body inside a body inside a body is as deep as it gets. */
const DEEPEST = 3;

/** The member's text, also in JSON that was cut off behind it. */
function textMember(name: string): RegExp {
  return new RegExp(String.raw`"${name}"\s*:\s*("(?:[^"\\]|\\.)*")`, "s");
}

/** `text` without its JSON, if a sentence is found in it. With BOUGH_DEBUG set, `text` as it is. */
export function providerErrorText(text: string): string {
  if (process.env["BOUGH_DEBUG"]) return text;
  // The cause stands behind the client's own sentence and its full stop.
  return sentenceIn(text, DEEPEST) ?? text.replace(/^Connection error\.: /, "Connection error: ");
}

/** The status before the JSON and the sentence in it; undefined without one. */
function sentenceIn(text: string, depth: number): string | undefined {
  const start = text.indexOf("{");
  if (start < 0 || depth === 0) return undefined;
  const json = text.slice(start);
  const [said] = SENTENCES.flatMap((member) => textOf(member, json) ?? []);
  if (said === undefined) return undefined;
  const inner = textOf(INNER, json);
  const reason = inner === undefined ? "" : ` (${sentenceIn(inner, depth - 1) ?? inner})`;
  const before = text.slice(0, start).replace(/[\s:-]+$/, "");
  return `${before === "" ? "" : `${before}: `}${sentenceIn(said, depth - 1) ?? said}${reason}`;
}

function textOf(member: RegExp, json: string): string | undefined {
  const found = member.exec(json)?.[1];
  if (found === undefined) return undefined;
  try {
    const text = (JSON.parse(found) as string).replace(/\s+/g, " ").trim();
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}
