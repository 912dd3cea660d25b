/**
 * What the bench asks of a session engine. bough.ts, pi.ts and omp.ts put it over the public classes of each program;
 * operations.ts does the same work with all of them.
 */
export interface Engine {
  open(path: string): Promise<OpenSession>;
  /** How many sessions the list of a folder shows. */
  list(cwd: string, dir: string): Promise<number>;
  /** Writes a session file as a page of HTML. */
  writePage(path: string, out: string): Promise<void>;
  /** The same, with secrets masked, where the program does so. */
  writeMaskedPage?(path: string, out: string): Promise<void>;
}

export interface OpenSession {
  leafId(): string | null;
  /** Builds what the model would be sent and returns the number of messages. */
  context(): number;
  append(message: UserMessage): void;
  jump(id: string): void;
  /** Writes the path to an entry as a session of its own; resolves to its file when the engine calls it done. */
  branchToFile(leafId: string): Promise<string>;
  treeSelector(rows: number): Selector;
}

/** The program's own component for its tree. */
export interface Selector {
  render(width: number): readonly string[];
  handleInput(key: string): void;
}

export interface UserMessage {
  role: "user";
  content: { type: "text"; text: string }[];
  timestamp: number;
}

/** Which modules are asked for besides those of sessions: of the terminal's tree, of pages. */
export type Part = "selector" | "pages" | undefined;

/** Loads the engine's modules. */
export type LoadEngine = (part: Part) => Promise<Engine>;

/** Folder of the peers' packages. Set by the parent. */
export const peersFolder = (): string => process.env["BENCH_PEERS"] ?? "";

export const ignore = (): void => {};
