/**
 * The work that is measured, the same for every engine. Loading modules and making ready are not counted; each figure
 * is in milliseconds.
 */
import { statSync } from "node:fs";
import { countNewlines } from "../floors/lines.ts";
import type { Engine } from "./engine.ts";
import type { Outcome } from "./measured.ts";
import { median, timed } from "./measured.ts";
import { testMessages } from "./messages.ts";

export interface Input {
  /** A session file; for `list` a folder of them. */
  path: string;
  /** Entries to jump to. */
  jumpIds: readonly string[];
  /** The working directory recorded in the sessions. */
  cwd: string;
  /** A file to write. */
  out: string;
}

/** Rows and columns of the terminal the tree is drawn for. */
const ROWS = 50;
const COLUMNS = 120;
const UP = "\x1b[A";

export const OPERATIONS = {
  /** Opens a file and builds the context of its leaf. */
  open: async (engine: Engine, { path }: Input): Promise<Outcome> => {
    const { ms, value } = await timed(async () => {
      const session = await engine.open(path);
      return { session, messages: session.context() };
    });
    return { figures: { ms }, answer: `${value.messages} messages to ${value.session.leafId()}` };
  },

  /** Opens a file and asks where the leaf is. */
  leaf: async (engine: Engine, { path }: Input): Promise<Outcome> => {
    const { ms, value } = await timed(async () => (await engine.open(path)).leafId());
    return { figures: { ms }, answer: `leaf ${value}` };
  },

  append: async (engine: Engine, { path }: Input): Promise<Outcome> => {
    const session = await engine.open(path);
    const before = statSync(path).size;
    const times: number[] = [];
    for (const message of testMessages()) {
      const start = performance.now();
      session.append(message);
      times.push(performance.now() - start);
    }
    return { figures: { ms: median(times) }, answer: `${countNewlines(path, before)} lines added` };
  },

  /** The leaf to one place after the other, each time with the context there. */
  jump: async (engine: Engine, { path, jumpIds }: Input): Promise<Outcome> => {
    const { ms: opening, value: session } = await timed(() => engine.open(path));
    let messages = 0;
    const times = jumpIds.map((id) => {
      const start = performance.now();
      session.jump(id);
      messages += session.context();
      return performance.now() - start;
    });
    const all = times.reduce((sum, ms) => sum + ms, opening);
    return { figures: { ms: median(times), all }, answer: `${messages} messages` };
  },

  branch: async (engine: Engine, { path }: Input): Promise<Outcome> => {
    const session = await engine.open(path);
    const leaf = session.leafId() as string;
    const { ms, value } = await timed(() => session.branchToFile(leaf));
    return { figures: { ms }, answer: `${countNewlines(value)} lines` };
  },

  list: async (engine: Engine, { path, cwd }: Input): Promise<Outcome> => {
    const first = await timed(() => engine.list(cwd, path));
    const again = await timed(() => engine.list(cwd, path));
    return { figures: { ms: first.ms, again: again.ms }, answer: `${first.value}, then ${again.value} sessions` };
  },

  /** Draws the tree, moves up, types the first letter of a search; each figure ends with a drawn screen. */
  tree: async (engine: Engine, { path }: Input): Promise<Outcome> => {
    const session = await engine.open(path);
    const frame = await timed(() => {
      const selector = session.treeSelector(ROWS);
      return { selector, lines: selector.render(COLUMNS) };
    });
    const { selector } = frame.value;
    const press = (key: string) =>
      timed(() => {
        selector.handleInput(key);
        return selector.render(COLUMNS);
      });
    const keys: number[] = [];
    for (let n = 0; n < 20; n++) keys.push((await press(UP)).ms);
    const search = await press("q");
    return {
      figures: { ms: frame.ms, key: median(keys), search: search.ms },
      answer: rowCount(frame.value.lines),
    };
  },

  /** Writes the session as a page. */
  write: async (engine: Engine, { path, out }: Input): Promise<Outcome> => {
    const { ms } = await timed(() => engine.writePage(path, out));
    return { figures: { ms }, answer: "" };
  },

  mask: async (engine: Engine, { path, out }: Input): Promise<Outcome> => {
    const { ms } = await timed(() => engine.writeMaskedPage?.(path, out));
    return { figures: { ms }, answer: "" };
  },
};

export type Operation = keyof typeof OPERATIONS;

/** How many rows the tree has, as it says below itself: "(selected/all)"; omp says nothing. */
function rowCount(lines: readonly string[]): string {
  const count = lines.flatMap((line) => /\(\d+\/(\d+)\)/.exec(line)?.[1] ?? []).at(-1);
  return count === undefined ? "" : `${count} rows`;
}
