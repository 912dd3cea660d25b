/**
 * Lines that were added to a file whose beginning is in an index already, taken into that index.
 * Part of `tree/`: pure. Used by session/ for what other programs append, and to follow a session.
 */
import type { LeafRecord } from "./entries.ts";
import type { SessionEntryIndex } from "./entry-index.ts";
import { parseLine } from "./line-parser.ts";
import type { Checksum } from "./line-seal.ts";
import { LineSplitter } from "./line-splitter.ts";
import { renameHookMessage } from "./migrate.ts";
import { lineProblem } from "./problems.ts";
import { hasBase, isEntry } from "./reader.ts";

/** A place in a file, between two lines as a rule. */
export interface FilePlace {
  /** Lines that end before it. */
  line: number;
  /** Bytes before it. */
  offset: number;
}

/**
 * Takes in `bytes`, which stand at `from` in the file; the leaf follows them as it would on opening. With `wholeOnly` a
 * last line without newline is left for later: its writer may not be done. Returns the place up to which all is taken.
 */
export function takeAppended(
  index: SessionEntryIndex,
  bytes: Uint8Array,
  from: FilePlace,
  options: { checksum: Checksum; wholeOnly: boolean },
): FilePlace {
  const taken = options.wholeOnly ? bytes.subarray(0, bytes.lastIndexOf(LF) + 1) : bytes;
  const splitter = new LineSplitter((raw) => {
    const line = from.line + raw.number;
    const { records, problem } = parseLine(
      { ...raw, number: line, offset: from.offset + raw.offset },
      options.checksum,
    );
    if (problem !== undefined) index.report(problem);
    for (const { record, offset, length, ...known } of records) {
      renameHookMessage(record);
      if (known.seal === "changed" && !isEntry(record)) index.report(lineProblem.changedLine(line));
      if (record.type === "session") index.report(lineProblem.secondHeader(line));
      else if (!hasBase(record)) index.report(lineProblem.noId(line));
      else if (record.type === ("leaf" as string)) index.replayLeaf(record as unknown as LeafRecord, line);
      else index.replay(record, { line, offset, length }, { ...known, rereadable: true });
    }
  });
  splitter.push(taken);
  splitter.finish();
  const ended = splitter.sealed ? splitter.lines : splitter.lines - 1;
  return { line: from.line + ended, offset: from.offset + taken.length };
}

const LF = 0x0a;
