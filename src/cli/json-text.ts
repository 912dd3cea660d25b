/** JSON for standard output. Part of `cli/`; used by `--mode json`, `bough tree --json` and `bough doctor --json`. */

/**
 * JSON with all that could drive a terminal in JSON's own escapes: JSON.stringify leaves C1 controls and characters
 * that are invisible or reorder text. `indent` as JSON.stringify takes it.
 */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(/[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/gu, escaped);

function escaped(character: string): string {
  let text = "";
  for (let i = 0; i < character.length; i++) text += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  return text;
}
