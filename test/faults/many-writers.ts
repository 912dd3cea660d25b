/**
 * FT13: several processes append to one file at once, without asking each other. Lines must stay whole.
 */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryFile } from "../support/session-files.ts";
import { HEADER, file } from "../support/session-lines.ts";
import type { AppendOrder } from "./appender.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { startProgram } from "./writing.ts";

const APPENDER = fileURLToPath(new URL("appender.ts", import.meta.url));
const WRITERS = 4;

async function append(tally: Tally, parts: AppendOrder["parts"]): Promise<void> {
  const path = temporaryFile(file(HEADER));
  const children = Array.from({ length: WRITERS }, (_, writer) =>
    startProgram(APPENDER, { path, writer, parts } satisfies AppendOrder),
  );
  const codes = await Promise.all(children.map(async (child) => ((await once(child, "close")) as unknown[])[0]));
  tally.same(
    codes,
    children.map(() => 0),
    "exit codes",
  );
  const lengths = parts.flatMap(({ count, length }) => Array.from({ length: count }, () => length));
  const next = Array.from({ length: WRITERS }, () => 0);
  let malformed = 0;
  let first = true;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (first) {
      first = false;
      tally.check(line === HEADER, "the header is as it was");
      continue;
    }
    // One that opened the file while another's write was under way began with a newline of its own.
    if (line === "") continue;
    tally.cases++;
    const match = /^\{"type":"custom","writer":(\d),"n":(\d+),"data":"(\d*)"\}$/.exec(line);
    const [writer, n] = [Number(match?.[1]), Number(match?.[2])];
    if (match === null || match[3] !== String(writer).repeat(lengths[n] ?? 0)) malformed++;
    else if (next[writer]!++ !== n) tally.lose(`record ${n} of writer ${writer} is not where it belongs`);
  }
  if (malformed > 0) tally.lose(`${malformed} lines are not whole`);
  tally.same(
    next,
    children.map(() => lengths.length),
    "records of each writer",
  );
}

const parts = (large: number, small: number): AppendOrder["parts"] => [
  { count: large, length: 1_500_000 },
  { count: small, length: 2_000 },
];

export const ft13: FaultTest = {
  id: "FT13",
  title: "four processes append 1.5 MB and 2 KB records",
  long: { needs: [], run: (tally) => append(tally, parts(60, 3000)) },
  short: { needs: [], run: (tally) => append(tally, parts(6, 300)) },
};
