/**
 * The terminal's one sink for text that bough did not write itself: model answers, tool output, file names, labels.
 * Part of `tui/`. Every component passes such text through here before it measures or wraps it, so that nothing
 * stored can drive the terminal. The stored bytes never change.
 */

const TAB = "    ";

/**
 * What may not reach a terminal, most specific first.
 * Strings (OSC, DCS, APC, PM, SOS) end at their terminator, at a new escape or at the end of the line: a stray
 * introducer hides no more than its own line. CSI and two-byte escapes may lack their last byte.
 * No alternative can fail after it has begun, so the scan is linear.
 */
const CONTROL_STRING = String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`;
const CONTROL_SEQUENCE = String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`;
const SHORT_ESCAPE = String.raw`\x1b[ -/]*[0-~]?`;
const CONTROL = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`;
/** Change the order in which a line reads, or hide text in it (Unicode 16, bidi controls and deprecated formats). */
const REORDERING = String.raw`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]`;
/** Invisible copies of ASCII (Unicode 16, block "Tags"). */
const TAGS = String.raw`[\u{e0000}-\u{e007f}]+`;
const LINE_SEPARATOR = String.raw`[\u2028\u2029]`;

const UNSAFE = new RegExp(
  [CONTROL_STRING, CONTROL_SEQUENCE, SHORT_ESCAPE, CONTROL, String.raw`\t`, REORDERING, TAGS, LINE_SEPARATOR].join("|"),
  "gu",
);

/**
 * Text that cannot drive a terminal: the only control character left in it is the newline. Tabs become four spaces,
 * characters that reorder or hide text become visible marks such as `⟦U+202E⟧`, lone surrogates become U+FFFD.
 */
export function sanitise(text: string): string {
  return text.toWellFormed().replace(UNSAFE, replacement);
}

/** `sanitise` for a place that has one line: newlines and runs of spaces become one space, the ends are trimmed. */
export function sanitiseLine(text: string): string {
  return sanitise(text)
    .replace(/[\n ]+/g, " ")
    .trim();
}

function replacement(match: string): string {
  const code = match.codePointAt(0) ?? 0;
  if (match === "\t") return TAB;
  if (code === 0x2028 || code === 0x2029) return "\n";
  if (code >= 0xe0000) return `⟦hidden: ${hiddenText(match)}⟧`;
  return code > 0x9f ? `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧` : "";
}

/** What a run of tag characters spells; those without an ASCII twin show as a dot. */
function hiddenText(tags: string): string {
  return Array.from(tags, (tag) => {
    const ascii = (tag.codePointAt(0) ?? 0) - 0xe0000;
    return ascii >= 0x20 && ascii < 0x7f ? String.fromCharCode(ascii) : "·";
  }).join("");
}
