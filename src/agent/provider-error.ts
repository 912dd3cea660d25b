/**
 * What a provider says of its failure, for people: the sentence in the JSON that most of them send; and what kept a
 * request from arriving at all.
 * Part of `agent/`; used by runs and summaries, the terminal and `bough -p`. The session keeps the text as it came, with
 * the address when there was no connection.
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

/** What the clients say when they have not come as far as an answer; the cause follows. */
const NO_CONNECTION = /^[^{\d]*(?:connection error|fetch failed)[^{:]*: (.+)$/is;
/** As `namedAddress` writes it. */
const AT_ADDRESS = /^Connection error at (\S+): (.+)$/s;
/** The causes that time alone seldom removes, by what the system calls them. */
const UNREACHABLE: readonly [cause: RegExp, words: string][] = [
  [/\bECONNREFUSED\b/, "the connection is refused"],
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, "the host is not found"],
  [/\b(?:EHOSTUNREACH|ENETUNREACH)\b/, "no network leads there"],
  [/\bbad port\b/, "no request may go to this port"],
  [/\bcertificate\b/i, "its certificate is not accepted"],
  [/\bEPROTO\b/, "it does not speak TLS"],
];
const ADVICE =
  " Check the network and that the server runs, or name another address with --base-url or in models.json.";

/** The text of an error without a connection, with the address in it; any other as it is. */
export function namedAddress(text: string, baseUrl: string): string {
  const cause = NO_CONNECTION.exec(text)?.[1];
  if (cause === undefined || !URL.canParse(baseUrl)) return text;
  // What else a URL may hold is a password or a key.
  const { origin, pathname } = new URL(baseUrl);
  return `Connection error at ${origin}${pathname}: ${cause}`;
}

/** Nothing answers at the address that the text names. */
export const isUnreachable = (text: string): boolean => unreachable(AT_ADDRESS.exec(text)?.[2] ?? "") !== undefined;

const unreachable = (cause: string): string | undefined => UNREACHABLE.find(([known]) => known.test(cause))?.[1];

/** `providerErrorText`, and what can be done about it where that is known. */
export const finalErrorText = (text: string): string =>
  `${providerErrorText(text)}${isUnreachable(text) ? ADVICE : ""}`;

/** `text` without its JSON, if a sentence is found in it. With BOUGH_DEBUG set, `text` as it is. */
export function providerErrorText(text: string): string {
  if (process.env["BOUGH_DEBUG"]) return text;
  const [, address, cause = ""] = AT_ADDRESS.exec(text) ?? [];
  const words = unreachable(cause);
  if (address !== undefined && words !== undefined) return `${address} cannot be reached: ${words} (${cause}).`;
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
