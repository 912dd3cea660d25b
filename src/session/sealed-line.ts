/**
 * Every line bough writes: a record as JSON, sealed with the CRC-32 of its bytes (docs/format.md, "Seals").
 * Part of `session/`; the one place where lines are encoded for a store or a file.
 */
import { crc32 } from "node:zlib";
import { encodeLine } from "../tree/format.ts";
import { sealStart, sealText } from "../tree/line-seal.ts";
import type { Checksum } from "../tree/line-seal.ts";

/** For readers that check seals. */
export const checksum: Checksum = (bytes) => crc32(bytes);

/** One record as a line, without its newline. */
export function sealedLine(record: object): string {
  const open = encodeLine(record).slice(0, -1);
  return `${open}${sealText(crc32(open))}`;
}

/** A record's bytes with a seal that fits them, in place of the one they had. */
export function sealedBytes(record: Uint8Array): Uint8Array {
  const start = sealStart(record, 0, record.length);
  const open = record.subarray(0, start === record.length ? record.length - 1 : start);
  return Buffer.concat([open, Buffer.from(sealText(crc32(open)))]);
}
