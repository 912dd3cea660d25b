/**
 * `LineRun`: the records of lines that follow one another in a file, parsed with one call, which costs less than one
 * for each. Only for lines each of which holds one sound record; whether it does shows, and others are parsed alone.
 * Part of `tree/`: pure. Used by the bodies of the index.
 */
import { isRecord } from "./json.ts";
import { soundBody } from "./line-parser.ts";
import type { Body } from "./line-parser.ts";
import { sealStart } from "./line-seal.ts";
import type { Checksum } from "./line-seal.ts";

/** Lines and bytes that are parsed together. V8 puts what a text of 100 KB holds where it costs more. */
export const LONGEST_RUN = 32;
export const LARGEST_RUN = 64 * 1024;

const [OPEN_LIST, CLOSE_LIST, CLOSE, LF] = [0x5b, 0x5d, 0x7d, 0x0a] as const;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Stands between the records as a number that no line can know: where it is an item of the list, all before it and
 * after it are whole items too, so that no two lines pass as one and no line as two.
 */
const MARK = bytesOfMark();

/** The list of records as JSON; kept, because a session is read in many runs. */
let scratch = new Uint8Array(0);

/**
 * The bodies of the lines whose lengths are given, each followed by a newline, the last one by nothing; undefined when
 * they have to be parsed one by one.
 */
export function parseRun(bytes: Uint8Array, lengths: readonly number[], checksum?: Checksum): Body[] | undefined {
  const values = listOf(bytes, lengths);
  if (values === undefined) return undefined;
  const bodies: Body[] = [];
  let from = 0;
  for (let n = 0; n < lengths.length; n++) {
    const to = from + lengths[n]!;
    const value = values[2 * n];
    if (!isRecord(value)) return undefined;
    bodies.push(soundBody(value, true, bytes, from, to, checksum));
    from = to + 1;
  }
  return bodies;
}

/** Records and marks in turn; undefined when that is not what the lines hold. */
function listOf(bytes: Uint8Array, lengths: readonly number[]): unknown[] | undefined {
  const most = bytes.length + lengths.length * (MARK.bytes.length + 1) + 2;
  if (scratch.length < most) scratch = new Uint8Array(Math.max(most, LARGEST_RUN));
  let end = 0;
  scratch[end++] = OPEN_LIST;
  let from = 0;
  for (const length of lengths) {
    if (from > 0) {
      if (bytes[from - 1] !== LF) return undefined;
      scratch.set(MARK.bytes, end);
      end += MARK.bytes.length;
    }
    const to = from + length;
    const seal = sealStart(bytes, from, to);
    scratch.set(bytes.subarray(from, seal), end);
    end += seal - from;
    if (seal < to) scratch[end++] = CLOSE;
    from = to + 1;
  }
  scratch[end++] = CLOSE_LIST;
  try {
    const values = JSON.parse(strictUtf8.decode(scratch.subarray(0, end))) as unknown[];
    const isInTurn =
      values.length === 2 * lengths.length - 1 && values.every((value, n) => n % 2 === 0 || value === MARK.value);
    return isInTurn ? values : undefined;
  } catch {
    return undefined;
  }
}

/** `,<number>,` */
function bytesOfMark(): { bytes: Uint8Array; value: number } {
  const value = 1e8 + Math.floor(Math.random() * 9e8);
  const text = `,${value},`;
  return { bytes: Uint8Array.from(text, (character) => character.charCodeAt(0)), value };
}
