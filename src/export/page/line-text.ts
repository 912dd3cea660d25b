/**
 * Text of the session as a line of the page's own: in rows, labels and titles.
 * Part of the page; pure. What is read or copied, the transcript's texts, stays as it is.
 */

/** What turns the order of a line around (Unicode's embeddings, overrides and isolates), and with it what a row seems to say. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** With visible marks such as `⟦U+202E⟧`, as in the terminal. */
export function lineText(text: string): string {
  return text.replace(REORDERING, (mark) => `⟦U+${mark.charCodeAt(0).toString(16).toUpperCase()}⟧`);
}
