/**
 * FT1: a program that writes a session is killed at any moment.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { checkLaws } from "../support/laws.ts";
import { SeededRandom } from "../support/generate.ts";
import { temporaryFolder } from "../support/session-files.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { Writer, checkAcks, checkNextAppend, tornLines } from "./writing.ts";
import type { Ack } from "./writing.ts";
import type { Order } from "./written-text.ts";

/** Kills on one file before there is a new one. */
const ROUNDS_PER_FILE = 5;

async function kill(tally: Tally, rounds: number, longestDelay: number): Promise<void> {
  const random = new SeededRandom(1);
  let place = temporaryFolder();
  let torn = 0;
  let tornSoFar = 0;
  let acked = 0;
  const written: { order: Order; acks: Ack[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % ROUNDS_PER_FILE === 0) {
      place = temporaryFolder();
      tornSoFar = 0;
      written.length = 0;
    }
    const order: Order = { place, seed: round, count: 100_000, smallest: 200, largest: 1_000_000, onError: "stop" };
    const writer = new Writer(order);
    await writer.until(() => writer.acks.length > 0);
    await sleep(random.below(longestDelay));
    await writer.kill();
    tally.cases++;
    acked += writer.acks.length;
    const path = writer.files[0]!;
    place = path;
    written.push({ order, acks: writer.acks });
    for (const before of written) await (await checkAcks(tally, before.order, before.acks, path)).close();
    const session = await checkAcks(tally, order, writer.acks, path);
    const tornNow = tornLines(session) - tornSoFar;
    tally.check(tornNow <= 1, `round ${round}: one write was under way and ${tornNow} lines are torn`);
    tornSoFar += tornNow;
    torn += tornNow;
    if (round % ROUNDS_PER_FILE === 0) await checkLaws(session);
    await session.close();
    await checkNextAppend(tally, path);
  }
  tally.note(`${acked} entries confirmed, ${torn} lines torn`);
}

export const ft1: FaultTest = {
  id: "FT1",
  title: "kill -9 while writing, 0.2 KB to 1 MB",
  long: { needs: [], run: (tally) => kill(tally, 200, 120) },
  short: { needs: [], run: (tally) => kill(tally, 4, 40) },
};
