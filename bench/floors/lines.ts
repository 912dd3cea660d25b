/** Reading as the floors do it: one buffer of 1 MiB, used again for every piece of the file. */
import { closeSync, openSync, readSync } from "node:fs";

const NEWLINE = 10;
const PIECE = 1 << 20;

/** Calls back for every piece of the file, from an offset in bytes on; the piece is valid until it returns. */
export function eachPiece(path: string, take: (piece: Buffer) => void, from = 0): void {
  const file = openSync(path, "r");
  const buffer = Buffer.allocUnsafeSlow(PIECE);
  let offset = from;
  for (let size = 0; (size = readSync(file, buffer, 0, PIECE, offset)) > 0; offset += size)
    take(buffer.subarray(0, size));
  closeSync(file);
}

export function countNewlines(path: string, from = 0): number {
  let count = 0;
  const take = (piece: Buffer): void => {
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) count++;
  };
  eachPiece(path, take, from);
  return count;
}

/** Calls back for every line: the bytes from `start` to `end` of a buffer, valid until it returns. */
export function eachLine(path: string, take: (bytes: Buffer, start: number, end: number) => void): void {
  const file = openSync(path, "r");
  let buffer = Buffer.allocUnsafeSlow(PIECE);
  let kept = 0;
  for (let size = 0; (size = readSync(file, buffer, kept, buffer.length - kept, null)) > 0;) {
    const filled = kept + size;
    let start = 0;
    // What was kept has no newline.
    let end = buffer.subarray(0, filled).indexOf(NEWLINE, kept);
    for (; end >= 0; end = buffer.subarray(0, filled).indexOf(NEWLINE, start)) {
      take(buffer, start, end);
      start = end + 1;
    }
    buffer.copyWithin(0, start, filled);
    kept = filled - start;
    if (kept === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(buffer.length)]);
  }
  if (kept > 0) take(buffer, 0, kept);
  closeSync(file);
}
