/**
 * FT5, FT6: one call of the kernel fails. FT19: how many there are.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFile, temporaryFolder } from "../support/session-files.ts";
import { HEADER, file, message } from "../support/session-lines.ts";
import type { FaultTest, Tally } from "./fault-test.ts";
import { inside, traced } from "./fault-plan.ts";
import type { StartOptions } from "./writing.ts";
import { Writer, checkAcks, checkNextAppend } from "./writing.ts";
import type { Order } from "./written-text.ts";

const APPENDS = 6;

const orderFor = (seed: number, more: Partial<Order>): Order => ({
  place: temporaryFile(file(HEADER, message("first", null))),
  seed,
  count: APPENDS,
  smallest: 200,
  largest: 20_000,
  onError: "retry",
  ...more,
});

const upTo = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);

/** How to make call number `at` of one kind on one file fail. */
type Inject = (call: "write" | "fdatasync", path: string, code: string, at: number) => StartOptions;

const injectInside: Inject = (call, path, code, at) =>
  inside({ folder: dirname(path), calls: [call], at, effect: code });
const injectByKernel: Inject = (call, path, code, at) => traced(call, { path, inject: `error=${code}:when=${at}` });

/** Every message is confirmed: at its second attempt where the first met the fault. */
async function failWrites(
  tally: Tally,
  inject: Inject,
  codes: readonly string[],
  places: readonly number[],
): Promise<void> {
  for (const code of codes) {
    for (const at of places) {
      const order = orderFor(at, {});
      const writer = new Writer(order, inject("write", order.place, code, at));
      const what = `${code} at write ${at}`;
      tally.same(await writer.done, 0, `${what}: the exit code`);
      const invisible = code === "EINTR" || at > APPENDS;
      const told = writer.errors.map((error) => [error.n, error.code]);
      tally.same(told, invisible ? [] : [[at - 1, "write-failed"]], `${what}: the errors`);
      const ids = ["first", ...writer.acks.map(({ id }) => id)];
      tally.same(ids.length, APPENDS + 1, `${what}: the acks`);
      tally.same(writer.ended, { leaf: ids.at(-1), length: ids.length }, `${what}: the tree in memory`);
      const session = await checkAcks(tally, order, writer.acks, order.place);
      tally.same(
        session.getEntries().map(({ id }) => id),
        ids,
        `${what}: the entries`,
      );
      tally.same(session.getProblems(), [], `${what}: the problems`);
      await session.close();
      tally.cases++;
    }
  }
}

/** Once a sync has failed nothing is confirmed any more; the file holds each entry once. */
async function failSyncs(tally: Tally, inject: Inject, places: readonly number[]): Promise<void> {
  for (const at of places) {
    const order = orderFor(at, { flush: true, onError: "stop" });
    const what = `EIO at fdatasync ${at}`;
    for (const onError of ["stop", "retry"] as const) {
      const poisoned = { ...order, onError, place: temporaryFile(file(HEADER, message("first", null))) };
      const writer = new Writer(poisoned, inject("fdatasync", poisoned.place, "EIO", at));
      tally.same(await writer.done, onError === "stop" ? 1 : 0, `${what}: the exit code`);
      tally.same(
        writer.acks.map(({ n }) => n),
        Array.from({ length: at - 1 }, (_, n) => n),
        `${what}: the acks`,
      );
      tally.check(writer.errors.length > 0, `${what}: no error was told`);
      for (const { code } of writer.errors) tally.same(code, "sync-failed", `${what}: the error`);
      const session = await checkAcks(tally, poisoned, writer.acks, poisoned.place);
      const ids = session.getEntries().map(({ id }) => id);
      tally.same([new Set(ids).size, session.getProblems()], [ids.length, []], `${what}: the entries`);
      await session.close();
      await checkNextAppend(tally, poisoned.place);
      tally.cases++;
    }
  }
}

/** One append is one write, and one flush one fdatasync. */
async function countCalls(tally: Tally, count: (order: Order, output: string) => StartOptions): Promise<void> {
  for (const flush of [false, true]) {
    const order = orderFor(7, { count: 20, largest: 1_500_000, flush });
    const output = join(temporaryFolder(), "calls");
    writeFileSync(output, "");
    const writer = new Writer(order, count(order, output));
    tally.same(await writer.done, 0, "the exit code");
    const lines = readFileSync(output, "utf8").split("\n");
    const calls = ["write", "fdatasync", "fsync"].map(
      (name) => lines.filter((line) => new RegExp(`(^|\\s)${name}[( ]`).test(line)).length,
    );
    tally.same(calls, [20, flush ? 20 : 0, 0], `20 appends${flush ? ", each flushed" : ""}: write, fdatasync, fsync`);
    await (await checkAcks(tally, order, writer.acks, order.place)).close();
    tally.cases += 20;
  }
}

export const ft5: FaultTest = {
  id: "FT5",
  title: "EIO, ENOSPC, EINTR at write k",
  long: {
    needs: ["strace"],
    run: (tally) => failWrites(tally, injectByKernel, ["EIO", "ENOSPC", "EINTR"], upTo(APPENDS + 1)),
  },
  short: { needs: [], run: (tally) => failWrites(tally, injectInside, ["EIO"], [1, APPENDS, APPENDS + 1]) },
};

export const ft6: FaultTest = {
  id: "FT6",
  title: "EIO at fdatasync k",
  long: { needs: ["strace"], run: (tally) => failSyncs(tally, injectByKernel, upTo(APPENDS)) },
  short: { needs: [], run: (tally) => failSyncs(tally, injectInside, [2]) },
};

export const ft19: FaultTest = {
  id: "FT19",
  title: "one append is one write, one flush one fdatasync",
  long: {
    needs: ["strace"],
    run: (tally) =>
      countCalls(tally, ({ place }, output) =>
        traced("write,writev,pwrite64,pwritev,fsync,fdatasync", { path: place, output }),
      ),
  },
  short: {
    needs: [],
    run: (tally) => countCalls(tally, ({ place }, log) => inside({ folder: dirname(place), log })),
  },
};
