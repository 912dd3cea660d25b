/**
 * Where the user stands in the tree, in a few words: what `/back` and `/forward` say.
 * Part of `tui/`; used by selector-controller.
 */
import type { SessionIndexView } from "../session/session-manager.ts";
import { cutText } from "../tree/content.ts";
import { currentOrdinal } from "../tree/outline-layout.ts";
import { plainText } from "../tree/outline-lines.ts";
import { rowText } from "../tree/row-text.ts";
import { sanitiseLine } from "./sanitise.ts";

/** In UTF-16 units: the remark stays on one line of a usual screen. */
const LONGEST = 40;

/** As the tree shows the place: `[label] user: the text`, its start only. */
export function placeText(index: SessionIndexView): string {
  const n = currentOrdinal(index);
  if (n < 0) return "the start of the session";
  const entry = index.at(n);
  const label = index.label(entry.id);
  const text = plainText(rowText(entry, n, { home: undefined, findCall: () => undefined }));
  const whole = sanitiseLine(label === undefined ? text : `[${label}] ${text}`);
  const start = cutText(whole, LONGEST);
  return start === whole ? whole : `${start.trimEnd()}…`;
}
