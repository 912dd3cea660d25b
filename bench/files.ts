/**
 * The sessions that are measured, made by the generator of the tests and kept in the cache. Their names tell what is
 * in them and which generator made them, so a file is only used again when it would be made the same.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { generateSession, SeededRandom, type GenerateOptions } from "../test/support/generate.ts";
import { cacheFolder } from "./cache.ts";
import { eachPiece } from "./floors/lines.ts";

/** One session file. */
export interface SessionFile {
  shape: GenerateOptions["shape"];
  entries: number;
  /** At most so many labels; default: as many as the generator makes. */
  labels?: number;
}
/** A folder of sessions, of sizes as people have them: half are small, a few are very long. */
export interface SessionFolder {
  sessions: number;
}
export type Files = SessionFile | SessionFolder;

export interface MadeFiles {
  path: string;
  bytes: number;
  entries: number;
  labels: number;
  /** 200 ids of messages, drawn at random; none for a folder. */
  jumpIds: string[];
  /** How the last texts of the file begin; none for a folder. */
  lastTexts: string[];
}

/** The working directory the generator records. */
export const RECORDED_CWD = "/home/sam/bakery";

/** Makes lines about 1.2 KB long on average. */
const TEXT_LENGTH = 270;
const JUMPS = 200;
const LAST_TEXTS = 3;
/** Characters of a text by which a program is seen to show it; short enough for one line of any screen. */
const BEGINNING = 25;

const sourceOf = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));
const generation = createHash("sha256")
  .update(sourceOf("../test/support/generate.ts"))
  .update(sourceOf("files.ts"))
  .digest("hex")
  .slice(0, 8);

/** The files, made now unless they are there. */
export function makeFiles(files: Files): MadeFiles {
  const name = "sessions" in files ? `list-${files.sessions}` : fileName(files);
  const folder = cacheFolder("sessions");
  const path = join(folder, `${name}-${generation}`);
  // Written last: without it the rest is not whole.
  const facts = `${path}.json`;
  if (!existsSync(facts)) {
    process.stderr.write(`making ${path}\n`);
    for (const old of readdirSync(folder).filter((entry) => !entry.includes(generation)))
      rmSync(join(folder, old), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    const made = "sessions" in files ? makeFolder(path, files) : makeFile(`${path}.jsonl`, files);
    writeFileSync(facts, JSON.stringify(made));
  }
  return JSON.parse(readFileSync(facts, "utf8")) as MadeFiles;
}

const fileName = ({ shape, entries, labels }: SessionFile): string =>
  `${shape}-${entries}${labels === undefined ? "" : `-labels-${labels}`}`;

function makeFile(path: string, { shape, entries, labels = Infinity }: SessionFile, seed = 1): MadeFiles {
  const file = openSync(path, "w");
  const messages: string[] = [];
  const texts: string[] = [];
  let bytes = 0;
  let lines: string[] = [];
  const write = (): void => {
    bytes += writeSync(file, lines.join(""));
    lines = [];
  };
  let labelCount = 0;
  for (let line of generateSession({ shape, entries, seed, textLength: TEXT_LENGTH })) {
    if (line.startsWith('{"type":"label"') && ++labelCount > labels) line = unlabelled(line);
    if (line.startsWith('{"type":"message"')) {
      const { id, message } = JSON.parse(line) as MessageLine;
      messages.push(id);
      texts.push(...message.content.flatMap(({ text }) => text?.slice(0, BEGINNING) ?? []));
    }
    if (lines.push(`${line}\n`) === 1000) write();
  }
  write();
  closeSync(file);
  const random = new SeededRandom(seed);
  const jumpIds = Array.from({ length: JUMPS }, () => random.pick(messages));
  return { path, bytes, entries, labels: Math.min(labelCount, labels), jumpIds, lastTexts: texts.slice(-LAST_TEXTS) };
}

interface MessageLine {
  id: string;
  message: { content: { text?: string }[] };
}

/** The same entry at the same place in the tree, as a record that labels nothing. */
function unlabelled(line: string): string {
  const { id, parentId, timestamp, label } = JSON.parse(line) as Record<string, string>;
  return JSON.stringify({ type: "custom", id, parentId, timestamp, customType: "mark", data: { label } });
}

/** Sizes on a lognormal curve: half of the sessions have under 52 entries, the average is about 200. */
function makeFolder(path: string, { sessions }: SessionFolder): MadeFiles {
  mkdirSync(path);
  const shapes = ["linear", "bushy", "compact"] as const;
  const total = { path, bytes: 0, entries: 0, labels: 0, jumpIds: [], lastTexts: [] };
  for (let n = 0; n < sessions; n++) {
    const entries = Math.round(Math.min(8000, 52 * Math.exp(1.63 * normalQuantile((n + 0.5) / sessions))));
    const shape = shapes[n % shapes.length] as GenerateOptions["shape"];
    const minute = String(n % 60).padStart(2, "0");
    const hour = String(Math.floor(n / 60) % 24).padStart(2, "0");
    const day = String(1 + Math.floor(n / 1440)).padStart(2, "0");
    const name = `2026-03-${day}T${hour}-${minute}-00-000Z_generated-${n}.jsonl`;
    const made = makeFile(join(path, name), { shape, entries: Math.max(2, entries) }, n + 1);
    total.bytes += made.bytes;
    total.entries += made.entries;
    total.labels += made.labels;
  }
  return total;
}

/** The value below which a share of a normal distribution lies, by halving; exact enough for sizes. */
function normalQuantile(share: number): number {
  let [low, high] = [-6, 6];
  for (let n = 0; n < 50; n++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  return low;
}

/** Logistic approximation of the normal distribution (error under 0.0002). */
const normalShare = (x: number): number => 1 / (1 + Math.exp(-1.5976 * x - 0.07056 * x ** 3));

/** Reads all bytes once, so that every program finds them in memory. */
export function warm({ path }: MadeFiles): void {
  if (statSync(path).isFile()) eachPiece(path, () => {});
}

/**
 * A copy to write to, on disk before it is used: what the disk still had to do would be counted to whoever syncs
 * first. Its recorded working directory is `cwd`, which exists; programs ask questions when it does not.
 */
export function copyFor(made: MadeFiles, path: string, cwd: string): string {
  const copy = openSync(path, "wx");
  let isHeader = true;
  eachPiece(made.path, (piece) => {
    const end = isHeader ? piece.indexOf(10) : 0;
    if (isHeader) writeSync(copy, JSON.stringify({ ...JSON.parse(piece.toString("utf8", 0, end)), cwd }));
    isHeader = false;
    writeSync(copy, piece, end);
  });
  fsyncSync(copy);
  closeSync(copy);
  return path;
}
