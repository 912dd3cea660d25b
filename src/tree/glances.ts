/**
 * `glancesOf`: what outlines need of the entries of a source that has their bodies.
 * Part of `tree/`: pure. Used for exported pages.
 */
import { EntryTraits, SILENT } from "./outline-traits.ts";
import type { TraitsSource } from "./outline-traits.ts";
import type { RowGlance } from "./outline-source.ts";
import { rowText, wordsBeyond } from "./row-text.ts";

/**
 * Asks for a body once if entries are taken in file order, and again for the calls that a tool result may answer.
 * @param home a folder shown as `~` at the start of paths
 */
export function glancesOf(source: TraitsSource, home: string | undefined): (n: number) => RowGlance {
  const traits = new EntryTraits(source);
  const around = { home, findCall: (n: number, id: string) => traits.findCall(n, id) };
  return (n) => {
    const entry = source.at(n);
    return { text: rowText(entry, n, around), beyond: wordsBeyond(entry, n), silent: traits.has(n, SILENT) };
  };
}
