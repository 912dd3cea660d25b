/**
 * `UnescapedJson`: JSON as it streams in, with the escapes in its strings resolved, so that a rule about code reads the
 * code and not its quotation: `"console.log(\"x\")"` comes out as `"console.log("x")"`.
 * Part of `agent/`; used by stream-rules.ts for the arguments of tool calls.
 */

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
]);

export class UnescapedJson {
  #isInString = false;
  /** An escape whose end has not come yet, such as `\u00`. */
  #escape = "";

  /** The next piece of the JSON; any cut is fine. What is no valid JSON comes out somehow, and never throws. */
  add(piece: string): string {
    let text = "";
    for (const character of piece) text += this.#next(character);
    return text;
  }

  #next(character: string): string {
    if (this.#escape !== "") return this.#escaped(character);
    if (character === '"') this.#isInString = !this.#isInString;
    if (character !== "\\" || !this.#isInString) return character;
    this.#escape = character;
    return "";
  }

  #escaped(character: string): string {
    this.#escape += character;
    if (this.#escape.startsWith("\\u") && this.#escape.length < 6) return "";
    const code = /^\\u([0-9a-f]{4})$/i.exec(this.#escape)?.[1];
    const text = code === undefined ? this.#escape.slice(1) : String.fromCharCode(Number.parseInt(code, 16));
    this.#escape = "";
    return ESCAPES.get(text) ?? text;
  }
}
