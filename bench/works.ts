/** What is measured: the rows of the table, with the goals of SPEC.md. Times are in milliseconds, memory in MiB. */
import type { Operation } from "./child/operations.ts";
import type { Files, SessionFile } from "./files.ts";

export type Goal = { timesFloor: number } | { atMost: number };

/** A row of the table. */
export interface Figure {
  /** Of the rule in SPEC.md; undefined for rows that only tell how fast the machine is. */
  id?: string;
  text: string;
  /** Which of the outcome's figures. */
  of: string;
  /** A share is a number without a unit. */
  unit: "time" | "memory" | "share";
  goal?: Goal;
}

/** Work that gives one or more rows. */
export interface Work {
  /** An operation of the engine; a written page in a browser; a `--version`; a start in a terminal; or a floor alone. */
  does: Operation | "page" | "version" | "terminal" | "floor";
  figures: readonly Figure[];
  /** Undefined when no session is needed. */
  files?: Files;
  /** A tenth of them, for the growth. */
  tenth?: Files;
  /** Name of the floor's program. */
  floor?: string;
  /** The work writes, so each sample gets a copy. */
  writes?: boolean;
  /** Work that no other program does. */
  ownAlone?: boolean;
  /** Only with --large. */
  large?: boolean;
}

const session = (shape: SessionFile["shape"], entries: number, labels?: number): SessionFile => ({
  shape,
  entries,
  ...(labels === undefined ? {} : { labels }),
});

const UNITS: ReadonlyMap<string, Figure["unit"]> = new Map([
  ["peak", "memory"],
  ["memory", "memory"],
  ["size", "share"],
]);

const row = (id: string, text: string, of: string, goal?: Goal): Figure => ({
  id,
  text,
  of,
  unit: UNITS.get(of) ?? "time",
  ...(goal === undefined ? {} : { goal }),
});

/** Shape and size of the sessions whose pages are opened, and until when they shall be usable. */
const PAGES = [
  ["linear", 10_000, 800],
  ["bushy", 50_000, 1500],
] as const;

export const WORKS: readonly Work[] = [
  {
    does: "floor",
    figures: [{ text: "count the newlines of 118 MB", of: "ms", unit: "time" }],
    files: session("linear", 100_000),
    tenth: session("linear", 10_000),
    floor: "newlines",
  },
  {
    does: "open",
    figures: [
      row("Y1", "open 100,000 entries, compacted, and build the context", "ms", { timesFloor: 2 }),
      row("Y2", "… peak memory over an idle process", "peak", { timesFloor: 2 }),
    ],
    files: session("compact", 100_000),
    tenth: session("compact", 10_000),
    floor: "ids",
  },
  {
    does: "leaf",
    figures: [
      row("Y3", "open 1,000,000 entries and find the leaf", "ms", { timesFloor: 2 }),
      row("Y3", "… peak memory over an idle process", "peak", { timesFloor: 2 }),
    ],
    files: session("linear", 1_000_000),
    tenth: session("linear", 100_000),
    floor: "ids",
    large: true,
  },
  {
    does: "open",
    figures: [
      row("Y4", "open 100,000 entries, never compacted, and build the whole context", "ms", { timesFloor: 1.2 }),
    ],
    files: session("linear", 100_000),
    tenth: session("linear", 10_000),
    floor: "parse",
  },
  {
    does: "append",
    figures: [row("Y5", "append an entry to 100,000 (half take less)", "ms", { timesFloor: 2 })],
    files: session("linear", 100_000),
    tenth: session("linear", 10_000),
    floor: "appends",
    writes: true,
  },
  {
    does: "jump",
    figures: [
      row("Y6", "jump in a bushy tree of 100,000 and build the context there", "ms", { atMost: 0.2 }),
      // Who parses every body at once has the jumps for less.
      row("Y6", "… opening it and 200 such jumps", "all"),
    ],
    files: session("bushy", 100_000),
    tenth: session("bushy", 10_000),
  },
  {
    does: "branch",
    figures: [row("Y7", "branch a path of 100,000 with 340 labels to a new file", "ms", { timesFloor: 2 })],
    files: session("linear", 100_000, 340),
    tenth: session("linear", 10_000, 34),
    floor: "copy",
    writes: true,
  },
  {
    does: "list",
    figures: [
      row("Y8", "list 2,000 sessions for the first time", "ms", { atMost: 200 }),
      row("Y8", "… again in the same process", "again", { atMost: 20 }),
    ],
    files: { sessions: 2000 },
    tenth: { sessions: 200 },
    floor: "heads",
  },
  ...(["linear", "bushy"] as const).map((shape): Work => ({
    does: "tree",
    figures: [
      row("Y9", `draw the tree of 100,000 entries, ${shape}`, "ms", { atMost: 100 }),
      row("Y9", "… one row up", "key", { atMost: 0.5 }),
      row("Y9", "… first letter of a search", "search", { atMost: 50 }),
    ],
    files: session(shape, 100_000),
    tenth: session(shape, 10_000),
  })),
  {
    does: "write",
    figures: [
      row("Y10", "write 50,000 entries as a page, bushy", "ms", { atMost: 1500 }),
      row("Y10", "… peak memory over an idle process", "peak", { atMost: 200 }),
    ],
    files: session("bushy", 50_000),
    tenth: session("bushy", 5000),
    floor: "parse",
  },
  {
    does: "mask",
    ownAlone: true,
    figures: [
      row("Y10", "… with secrets looked for and masked", "ms"),
      row("Y10", "… peak memory over an idle process", "peak"),
    ],
    files: session("bushy", 50_000),
    tenth: session("bushy", 5000),
  },
  ...PAGES.map(([shape, entries, usable]): Work => ({
    does: "page",
    figures: [
      row(
        "Y11",
        `open the page of ${entries.toLocaleString("en")} entries, ${shape}, until its tree takes a click`,
        "ms",
        {
          atMost: usable,
        },
      ),
      row("Y11", "… from a click in the tree until the entry is shown", "click", { atMost: 100 }),
      row("Y11", "… the longest task while 14 letters are typed in its search", "search", { atMost: 16 }),
      row("Y11", "… peak memory of the process that shows it", "memory", { atMost: 300 }),
      row("Y11", "… bytes of the page over those of the session", "size", { atMost: 0.3 }),
    ],
    files: session(shape, entries),
    tenth: session(shape, entries / 10),
  })),
  {
    does: "version",
    figures: [row("Y12", "`--version`; its floor is `node -e 0`", "ms", { timesFloor: 1.3 })],
    floor: "node -e 0",
  },
  {
    does: "terminal",
    figures: [
      row("Y13", "start until 10,000 resumed entries are shown and the prompt takes text", "ms", { atMost: 600 }),
      row("Y13", "… until the prompt takes text", "typed"),
      row("Y13", "… peak memory of the whole process", "memory"),
    ],
    files: session("linear", 10_000),
    tenth: session("linear", 1000),
    writes: true,
  },
];
