/**
 * Small session files as text: lines for tests, and ways to read them.
 */
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import type { LineSource } from "../../src/tree/line-source.ts";
import type { Problem } from "../../src/tree/problems.ts";
import { SessionReader, readSession } from "../../src/tree/reader.ts";
import type { ReaderOptions, SessionReading } from "../../src/tree/reader.ts";

export type ReadSession = Extract<SessionReading, { kind: "session" }>;

export const HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';

/** An ISO timestamp some seconds after the header's. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
}

/** Any entry as a line. Its time is the header's unless `fields` says otherwise. */
export function line(type: string, id: string, parentId: string | null, fields: object = {}): string {
  return JSON.stringify({ type, id, parentId, timestamp: at(0), ...fields });
}

/** A user's message that says its own id. */
export function message(id: string, parentId: string | null, fields: object = {}): string {
  return line("message", id, parentId, { message: { role: "user", content: id, timestamp: 0 }, ...fields });
}

/** A chain of messages below `parentId`. */
export function chain(parentId: string | null, ...ids: string[]): string[] {
  return ids.map((id, n) => message(id, n === 0 ? parentId : (ids[n - 1] as string)));
}

export function leafRecord(id: string, target: string | null, via = "jump"): string {
  return line("leaf", id, target, { via });
}

/** Lines as a file, each ended by LF. */
export function file(...lines: string[]): string {
  return lines.map((text) => `${text}\n`).join("");
}

/** A record as bough writes it. */
export function sealed(text: string): string {
  const open = text.slice(0, -1);
  return `${open},"c":"${crc32(open).toString(16).padStart(8, "0")}"}`;
}

/** A line without its seal, which must fit. */
export function unsealed(text: string): string {
  const seal = /,"c":"[0-9a-f]{8}"\}$/.exec(text);
  if (seal === null) return text;
  const open = `${text.slice(0, seal.index)}}`;
  assert.equal(text, sealed(open));
  return open;
}

export function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

export function memorySource(content: string | Uint8Array): LineSource {
  const bytes = bytesOf(content);
  return { read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** The larger inputs would only repeat, at length, what the smaller ones show. */
const LARGEST_COMPARED = 1 << 18;

/** Reads a file as the program does. That parsing every line at once gives the same is checked on the way. */
export function read(content: string | Uint8Array, options?: ReaderOptions): SessionReading {
  // A maker of ids would be asked twice.
  if (content.length <= LARGEST_COMPARED && options?.newId === undefined) {
    const [lazy, eager] = [false, true].map((way) =>
      picture(readSession(memorySource(content), { ...options, eager: way })),
    );
    assert.deepEqual(lazy, eager, "reading lazily and eagerly are one");
  }
  return readSession(memorySource(content), options);
}

/** Reads what must be a session. */
export function readSound(content: string | Uint8Array, options?: ReaderOptions): ReadSession {
  const reading = read(content, options);
  assert.equal(reading.kind, "session");
  return reading as ReadSession;
}

/**
 * Reads with the chunks of one size, all in the same buffer, as a file is read. With a `source` bodies are read from
 * there when they are looked at.
 */
export function readInChunks(content: string | Uint8Array, size: number, source?: LineSource): SessionReading {
  const bytes = bytesOf(content);
  const reader = new SessionReader({}, source);
  const buffer = new Uint8Array(size);
  for (let offset = 0; offset < bytes.length; offset += size) {
    const part = bytes.subarray(offset, offset + size);
    buffer.set(part);
    reader.push(buffer.subarray(0, part.length));
  }
  buffer.fill(0x7a);
  return reader.finish();
}

export function ids(reading: ReadSession): string[] {
  return reading.index.entries().map((entry) => entry.id);
}

/** Code and line of each problem, as "code:line". */
export function codes(problems: readonly Problem[]): string[] {
  return problems.map((problem) => `${problem.code}:${problem.line}`);
}

/** All that can be seen of a session, as one value to compare. */
export function picture(reading: SessionReading): unknown {
  if (reading.kind !== "session") return reading;
  const { index, ...rest } = reading;
  const entries = index.entries();
  return {
    ...rest,
    entries,
    kinds: entries.map((_, n) => [index.kindAt(n), index.roleAt(n), index.idAt(n), index.timeAt(n)]),
    faults: entries.map((_, n) => index.faultAt(n)),
    origins: entries.map((entry) => index.originOf(entry.id)),
    parents: entries.map((_, n) => index.parentOrdinal(n)),
    treeProblems: entries.map((_, n) => index.treeProblemAt(n)),
    children: entries.map((_, n) => index.treeChildren(n)),
    roots: index.treeChildren(-1),
    labels: [...index.labels()],
    name: index.name,
    leaf: index.leafId,
    usage: index.usage(),
    problems: index.problems,
  };
}
