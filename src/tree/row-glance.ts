/**
 * `RowGlance`: what an outline needs of an entry's body, so that rows, filters and search do without the body itself.
 * Part of `tree/`: pure. Made for exported pages, whose bodies come later.
 */
import type { TextPart } from "./row-text.ts";

export interface RowGlance {
  /** As the row shows it. */
  text: TextPart[];
  /** Words that find the row although it does not show them; "" for none. */
  beyond: string;
  /** An answer that ended as usual and says nothing. */
  silent: boolean;
}
