/**
 * A seeded user and an erratic model over thousands of entries: every request is valid for all three protocols, and the
 * session obeys the laws. `LONG_HISTORY=5000` sets the number of entries (500 keep `npm test` short), `SEED` the seed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeLongHistory } from "../support/long-history.ts";
import { temporaryFolder } from "../support/session-files.ts";

const ENTRIES = Number(process.env["LONG_HISTORY"] ?? 500);
const SEED = Number(process.env["SEED"] ?? 1) || 1;
/** For 5,000 entries. */
const COMPACTIONS = 30;

test(`[C3, K1, K2, N1, N3, T7, L1] ${ENTRIES} entries with compactions, jumps and forks: each request is valid for all three protocols`, async () => {
  const { counts, faults, picture } = await makeLongHistory({
    seed: SEED,
    entries: ENTRIES,
    folder: temporaryFolder(),
  });
  assert.deepEqual(faults, []);
  assert.ok(picture.length >= ENTRIES);
  const compactions = [...counts].filter(([what]) => what.startsWith("compacted")).reduce((sum, [, n]) => sum + n, 0);
  assert.ok(compactions >= (COMPACTIONS * ENTRIES) / 5_000, `${compactions} compactions`);
});

test("[C3, L1] the same seed makes the same history", async () => {
  const make = () => makeLongHistory({ seed: SEED + 1, entries: 150, folder: temporaryFolder() });
  const [first, second] = [await make(), await make()];
  const at = first.picture.findIndex((entry, n) => entry !== second.picture[n]);
  assert.deepEqual([at, second.picture[at]], [-1, first.picture[at]]);
  assert.deepEqual(second.counts, first.counts);
});
