/**
 * Lines on their way from one session file to another: as they are, or with some of them encoded anew.
 * Part of `session/`; used for migrations and forks (whole files) and for branched sessions (single lines).
 */
import type { SessionHeader } from "../tree/entries.ts";
import { encodeLine } from "../tree/format.ts";
import { parseLine } from "../tree/line-parser.ts";
import type { LineSource } from "../tree/line-source.ts";
import { LineSplitter } from "../tree/line-splitter.ts";
import type { SessionReading } from "../tree/reader.ts";
import { sealedLine } from "./sealed-line.ts";

const CHUNK_BYTES = 1 << 20;
export const LF = 0x0a;
export const NEWLINE = Uint8Array.of(LF);

/** One record as the bytes of a whole line. */
export const lineBytes = (record: object): Uint8Array => Buffer.from(`${sealedLine(record)}\n`);

/**
 * A header as the line it is in the copy of a session. A sealed one says that bough has written the file from its start:
 * where `isOurs` is false the copied lines are another program's, and so have no seals.
 */
export const headerBytes = (header: SessionHeader, isOurs: boolean): Uint8Array =>
  isOurs ? lineBytes(header) : Buffer.from(`${encodeLine(header)}\n`);

/** What stands in place of lines, by their 1-based number. */
export type Replacements = ReadonlyMap<number, readonly object[]>;

/** What a migration in memory has made of a file's lines. */
export function replacedLines(reading: Extract<SessionReading, { kind: "session" }>): Replacements {
  const { index, changedLines } = reading;
  const replaced = new Map<number, object[]>();
  for (const [line, record] of changedLines) if (record.type === "session") replaced.set(line, [record]);
  if (changedLines.size === 0) return replaced;
  // By the index and not by changedLines: a damaged line can hold several entries.
  for (let n = 0; n < index.size; n++) {
    const entry = index.at(n);
    const line = index.originOf(entry.id)?.line ?? 0;
    if (!changedLines.has(line)) continue;
    const others = replaced.get(line);
    if (others === undefined) replaced.set(line, [entry]);
    else others.push(entry);
  }
  return replaced;
}

export interface HeaderLine {
  line: number;
  /** The records that run on in the same line after it. */
  fused: { offset: number; length: number }[];
}

/** Where a session file has its header. */
export function headerLine(source: LineSource): HeaderLine {
  let found: HeaderLine | undefined;
  const splitter = new LineSplitter((line) => {
    if (found !== undefined) return;
    const { records } = parseLine(line);
    const at = records.findIndex(({ record }) => record.type === ("session" satisfies SessionHeader["type"]));
    const header = records[at];
    if (header !== undefined) found = { line: line.number, fused: records.slice(at + 1) };
  });
  for (const chunk of chunksOf(source)) {
    splitter.push(chunk);
    if (found !== undefined) return found;
  }
  splitter.finish();
  return found ?? { line: 0, fused: [] };
}

/**
 * All bytes of `source` from its line `firstLine` (1-based) on, with the lines in `changed` replaced and a newline at
 * the end. Bad lines are copied like any other.
 */
export function* copiedLines(
  source: LineSource,
  changed: Replacements = new Map(),
  firstLine = 1,
): Generator<Uint8Array> {
  let line = 1;
  let last = LF;
  let written = false;
  for (const chunk of chunksOf(source)) {
    for (let start = 0; start < chunk.length;) {
      if (changed.size === 0 && line >= firstLine) {
        yield chunk.subarray(start);
        last = chunk.at(-1)!;
        break;
      }
      const newline = chunk.indexOf(LF, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      const replacement = changed.get(line);
      if (line >= firstLine && replacement === undefined) {
        yield chunk.subarray(start, end);
        last = chunk[end - 1]!;
      } else if (line >= firstLine && !written) {
        for (const record of replacement!) yield isHeader(record) ? headerBytes(record, false) : lineBytes(record);
        written = true;
        last = LF;
      }
      start = end;
      if (newline < 0) continue;
      line++;
      written = false;
    }
  }
  if (last !== LF) yield NEWLINE;
}

/** Only migrations replace one, and old versions know no seals. */
const isHeader = (record: object): record is SessionHeader => "type" in record && record.type === "session";

/** The content of a source in order. */
export function* chunksOf(source: LineSource): Generator<Uint8Array> {
  for (let offset = 0; ;) {
    const chunk = source.read(offset, CHUNK_BYTES);
    if (chunk.length === 0) return;
    yield chunk;
    offset += chunk.length;
  }
}
