/**
 * What happens to a session when a plan is approved.
 * Part of `agent/`; used by plan mode.
 */

/**
 * A plan's title as a session name: runs of `-` and `_` become one space, the ends are trimmed, the first character is
 * upper-cased, all else stays. "" when nothing is left, and then the session keeps its name.
 */
export function humanizePlanTitle(title: string): string {
  const words = title.replace(/[-_]+/g, " ").trim();
  const first = words.codePointAt(0);
  if (first === undefined) return "";
  const character = String.fromCodePoint(first);
  return character.toUpperCase() + words.slice(character.length);
}
