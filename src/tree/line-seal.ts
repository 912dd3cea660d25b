/**
 * The seal of a line: a last member `"c"` with the CRC-32 of the bytes before it, by which a changed line is known.
 * Part of `tree/`: pure; the CRC itself comes from outside. Used by the line parser; session/ writes seals.
 */
import { lineProblem } from "./problems.ts";
import type { Problem } from "./problems.ts";

/** CRC-32 as zlib computes it, unsigned. */
export type Checksum = (bytes: Uint8Array) => number;

/**
 * `unchecked`: there is a seal and nothing to check it with. `changed`: the line is not what was written.
 */
export type SealState = "none" | "sound" | "changed" | "unchecked";

/** What precedes the digits. */
export const SEAL_START = ',"c":"';
const SEAL_END = '"}';
const SEAL_DIGITS = 8;
const SEAL_LENGTH = SEAL_START.length + SEAL_DIGITS + SEAL_END.length;

/** `,"c":"<digits>"}`: what takes the place of a record's closing brace. */
export const sealText = (checksum: number): string =>
  SEAL_START +
  HEX[checksum >>> 24]! +
  HEX[(checksum >>> 16) & 0xff]! +
  HEX[(checksum >>> 8) & 0xff]! +
  HEX[checksum & 0xff]! +
  SEAL_END;

/** Of each byte; `toString` takes numbers above 31 bits for fractions, at six times the cost. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * Where the seal of the record in `bytes` from `from` to `to` begins; `to` when it has none. Quotes inside a JSON text
 * are escaped, so these bytes at the end of a record can only be its last member.
 */
export function sealStart(bytes: Uint8Array, from: number, to: number): number {
  const start = to - SEAL_LENGTH;
  if (start <= from) return to;
  if (!holdsText(bytes, start, SEAL_START) || !holdsText(bytes, to - SEAL_END.length, SEAL_END)) return to;
  for (let at = start + SEAL_START.length; at < to - SEAL_END.length; at++)
    if (digitValue(bytes[at] as number) < 0) return to;
  return start;
}

/**
 * Whether the record in `bytes` from `from` to `to` ends with all of a seal but one byte. Any record of another program
 * may; a header with such a last member has one that was damaged.
 */
export function isDamagedSeal(bytes: Uint8Array, from: number, to: number): boolean {
  const start = to - SEAL_LENGTH;
  if (start <= from) return false;
  const digits = start + SEAL_START.length;
  let wrong = 0;
  for (let at = start; at < to; at++) {
    const byte = bytes[at] as number;
    const isDigit = at >= digits && at < digits + SEAL_DIGITS;
    const wanted = at < digits ? SEAL_START.charCodeAt(at - start) : SEAL_END.charCodeAt(at - digits - SEAL_DIGITS);
    if (isDigit ? digitValue(byte) < 0 : byte !== wanted) wrong++;
  }
  return wrong === 1;
}

/** How the record in `bytes` from `from` to `to` stands with its seal. */
export function sealState(bytes: Uint8Array, from: number, to: number, checksum: Checksum | undefined): SealState {
  const start = sealStart(bytes, from, to);
  if (start === to) return "none";
  if (checksum === undefined) return "unchecked";
  let value = 0;
  for (let at = start + SEAL_START.length; at < to - SEAL_END.length; at++)
    value = value * 16 + digitValue(bytes[at] as number);
  return checksum(bytes.subarray(from, start)) === value ? "sound" : "changed";
}

function holdsText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let n = 0; n < text.length; n++) if (bytes[at + n] !== text.charCodeAt(n)) return false;
  return true;
}

/** Of a lower-case hexadecimal digit; -1 for any other byte. */
function digitValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

/** Told once of a file whose header is sealed: that there are lines without a seal. */
export class SealNotes {
  readonly #report: (problem: Problem) => void;
  #headerIsSealed = false;
  #firstUnsealed = 0;
  #unsealed = 0;

  constructor(report: (problem: Problem) => void) {
    this.#report = report;
  }

  get headerIsSealed(): boolean {
    return this.#headerIsSealed;
  }

  /** The seal of a record, the header's first. */
  take(line: number, seal: SealState, isHeader: boolean): void {
    if (isHeader) this.#headerIsSealed = seal !== "none";
    if (seal !== "none" || !this.#headerIsSealed) return;
    if (this.#unsealed++ === 0) this.#firstUnsealed = line;
  }

  /** A line of which only the start was read. */
  takeUsual(line: number, bytes: Uint8Array, from: number, to: number): void {
    if (this.#headerIsSealed && sealStart(bytes, from, to) === to) this.take(line, "none", false);
  }

  /** When the last line has been read. */
  finish(): void {
    if (this.#unsealed > 0) this.#report(lineProblem.unverified(this.#firstUnsealed, this.#unsealed));
  }
}
