/**
 * `TreeLines`: the rows of the tree as lines of the terminal. A key changes few of them, so a row that looks as it did in
 * the last frame is not drawn again.
 * Part of `tui/`; used by the tree selector.
 */
import { lineParts } from "../tree/outline-lines.ts";
import type { OutlineRow } from "../tree/outline.ts";
import { sanitise } from "./sanitise.ts";
import { fitRuns, highlighted } from "./selector-list.ts";
import { type Theme, theme } from "./theme.ts";

/** All that a row shows beside the text of its entry, which never changes. */
type Look = Pick<OutlineRow, "prefix" | "active" | "selected" | "label" | "problem">;

/** When the label of an entry was set. */
interface LabelTimes {
  of(entryId: string): string | undefined;
}

export class TreeLines {
  #width = 0;
  #theme: Theme | undefined;
  /** By ordinal, the rows of the last frame. */
  #drawn = new Map<number, { look: Look; line: string }>();

  /** @param labelTimes where they are to be shown */
  of(rows: readonly OutlineRow[], width: number, labelTimes: LabelTimes | undefined): string[] {
    const before = width === this.#width && theme === this.#theme ? this.#drawn : undefined;
    this.#width = width;
    this.#theme = theme;
    this.#drawn = new Map();
    return rows.map((row) => {
      const { n, prefix, active, selected, problem } = row;
      const time = row.label === undefined ? undefined : labelTimes?.of(row.entry.id);
      const look = {
        prefix,
        active,
        selected,
        problem,
        label: time === undefined ? row.label : `${row.label} · ${time}`,
      };
      const last = before?.get(n);
      const line = last !== undefined && isSame(last.look, look) ? last.line : drawn(look, row, width);
      this.#drawn.set(n, { look, line });
      return line;
    });
  }
}

const isSame = (a: Look, b: Look): boolean =>
  a.prefix === b.prefix &&
  a.active === b.active &&
  a.selected === b.selected &&
  a.label === b.label &&
  a.problem === b.problem;

function drawn(look: Look, { text }: Pick<OutlineRow, "text">, width: number): string {
  const parts = lineParts({ ...look, text }, look.selected).map((part) => ({
    ...part,
    text: sanitise(part.text).replaceAll("\n", " "),
  }));
  const line = fitRuns(parts, width, ({ text: cut, token }) => (token === undefined ? cut : theme.fg(token, cut)));
  return look.selected ? highlighted(line, width) : line;
}
