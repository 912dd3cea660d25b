/**
 * The quarantine file of a repair: every byte that was taken out of a session, with its place.
 * Part of `session/`; used by repair.ts. `docs/format.md` describes the file.
 */
import { basename } from "node:path";
import type { LineSource } from "../tree/line-source.ts";
import { eachLine } from "./repair-plan.ts";
import type { Removal } from "./repair-plan.ts";

/** One line of a quarantine file: one of `text`, `base64` and `nuls` gives the bytes. */
interface QuarantinedPiece extends Removal {
  text?: string;
  base64?: string;
  /** So many NUL bytes. */
  nuls?: number;
}

const PIECE_BYTES = 1 << 20;
const exactUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Not `.jsonl`: programs take every file of that name for a session. `time` is ISO 8601. */
export const quarantinePath = (path: string, time: string): string =>
  `${path}.quarantine-${time.replace(/[:.]/g, "-")}`;

/** The lines of the quarantine file: one that says what it is, then the pieces in the order of the file. */
export function* quarantineContent(
  path: string,
  time: string,
  source: LineSource,
  removals: readonly Removal[],
): Generator<Uint8Array> {
  yield jsonLine({ type: "quarantine", version: 1, timestamp: time, file: basename(path) });
  for (const removal of removals) for (const piece of piecesOf(source, removal)) yield jsonLine(piece);
}

/** Whether the file gives back all of `removals`, byte for byte. */
export function isWholeQuarantine(file: LineSource, source: LineSource, removals: readonly Removal[]): boolean {
  const expected = removals[Symbol.iterator]();
  let current = expected.next();
  /** Bytes of `current` that were found. */
  let found = 0;
  let same = true;
  eachLine(file, (line) => {
    if (line.number === 1) return;
    const piece = pieceIn(line.bytes);
    const bytes = bytesIn(piece);
    const isNext = !current.done && piece.line === current.value.line && piece.offset === current.value.offset + found;
    same &&= isNext && Buffer.compare(source.read(piece.offset ?? 0, bytes.length), bytes) === 0;
    found += bytes.length;
    if (current.done || found < current.value.length) return;
    current = expected.next();
    found = 0;
  });
  return same && current.done === true;
}

/** A long removal in several pieces, none of which ends within a character if it can be helped. */
function* piecesOf(source: LineSource, { line, offset, length, code }: Removal): Generator<QuarantinedPiece> {
  const end = offset + length;
  for (let at = offset; at < end;) {
    const bytes = wholeCharacters(source.read(at, Math.min(PIECE_BYTES, end - at)), at + PIECE_BYTES >= end);
    yield { line, offset: at, length: bytes.length, code, ...encoded(bytes) };
    at += bytes.length;
  }
}

function wholeCharacters(bytes: Uint8Array, isLast: boolean): Uint8Array {
  const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
  let end = bytes.length;
  // The first byte of a character of up to four bytes moves to the next piece with the rest of it.
  while (!isLast && end > bytes.length - 3 && isContinuation(bytes[end - 1])) end--;
  const startsCharacter = !isLast && (bytes[end - 1] ?? 0) >= 0xc0;
  return bytes.subarray(0, startsCharacter ? end - 1 : bytes.length);
}

function encoded(bytes: Uint8Array): Pick<QuarantinedPiece, "text" | "base64" | "nuls"> {
  if (bytes.every((byte) => byte === 0)) return { nuls: bytes.length };
  try {
    return { text: exactUtf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}

/** Of a line that cannot be read, a piece without place and bytes. */
function pieceIn(line: Uint8Array): Partial<QuarantinedPiece> {
  try {
    return JSON.parse(Buffer.from(line).toString()) as QuarantinedPiece;
  } catch {
    return {};
  }
}

function bytesIn({ text, base64, nuls }: Partial<QuarantinedPiece>): Uint8Array {
  if (text !== undefined) return Buffer.from(text);
  return base64 === undefined ? new Uint8Array(nuls ?? 0) : Buffer.from(base64, "base64");
}

const jsonLine = (value: object): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);
