/**
 * The laws that hold for every session at any time. Every session a test makes is handed to `trackSession`, which
 * checks them when the test is over; `checkLaws` checks them at once.
 */
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionIndexView } from "../../src/session/session-manager.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { Outline } from "../../src/tree/outline.ts";
import { readSession } from "../../src/tree/reader.ts";
import { buildSessionContext, contextOfPath } from "../../src/tree/session-context.ts";
import { beforeAppends } from "./reopening-store.ts";
import { memorySource } from "./session-lines.ts";

/** Tips of one session whose contexts are compared. */
const TIPS = 20;

/** Files up to this size are read whole before each append, when stores are opened anew; bytes. */
const READ_EACH_TIME = 64 * 1024;

/** What each session's files held when they were last looked at. */
const seen = new WeakMap<SessionManager, Map<string, Buffer>>();
/** Sessions whose files others write. */
const shared = new WeakSet<SessionManager>();

export interface TrackOptions {
  /** The test makes writing fail, so what is on disk may lag behind. */
  unsaved?: boolean;
  /** Another program writes the file while this session reads it. */
  followed?: boolean;
}

/** Checks the laws when the test is over, and closes the session. Returns the session. */
export function trackSession(t: TestContext, manager: SessionManager, options: TrackOptions = {}): SessionManager {
  lookAtFile(manager);
  if (options.followed) shared.add(manager);
  const stopWatching = options.unsaved ? () => undefined : beforeAppends((path) => checkWritten(manager, path));
  t.after(async () => {
    stopWatching();
    checkMemory(manager);
    checkBytes(manager);
    if (!options.unsaved) await checkLaws(manager);
    await manager.close().catch((error: unknown) => assert.ok(options.unsaved, String(error)));
  });
  return manager;
}

/** What has been appended so far is what a reader of the file finds, before more is appended. */
function checkWritten(manager: SessionManager, path: string): void {
  if (manager.getSessionFile() !== path || manager.isReadOnly()) return;
  const bytes = readFileSync(path);
  if (bytes.length > READ_EACH_TIME) return;
  const reading = readSession(memorySource(bytes));
  const index = manager.getIndex();
  assert.equal(reading.kind, "session");
  if (reading.kind !== "session" || manager.getUnsavedCount() > 0) return;
  assert.ok(reading.index.size >= index.size, "a store opened anew has every entry");
  // Other programs' lines are in the tree with the next append.
  if (reading.index.size > index.size) return;
  assert.deepEqual(pictureOf(reading.index), pictureOf(index), "a store opened anew has the same tree");
}

/** All laws. Flushes, as the leaf is only then a fact. */
export async function checkLaws(manager: SessionManager): Promise<void> {
  checkMemory(manager);
  await manager.flush();
  checkBytes(manager);
  await checkReopening(manager);
}

/** Laws of the tree in memory. */
function checkMemory(manager: SessionManager): void {
  const index = manager.getIndex();
  assert.deepEqual(pictureOf(index), pictureOf(rebuilt(manager)), "the index equals one rebuilt from its entries");
  const outline = new Outline(index, { filter: "all" });
  assert.equal(outline.rowCount, index.size, "the outline has one row per entry");
  const shown = outline.rows(0, outline.rowCount).map((row) => row.n);
  assert.equal(new Set(shown).size, index.size, "the outline shows each entry once");
  const entries = manager.getEntries();
  for (const tip of tipsOf(index)) {
    const path = index.path(tip);
    const alone = asStored(contextOfPath(path));
    assert.deepEqual(asStored(buildSessionContext(path, tip)), alone, "a path's context needs its own entries alone");
    if (path.every(({ parentId }) => parentId === null || index.has(parentId)))
      assert.deepEqual(asStored(buildSessionContext(entries, tip)), alone, "siblings do not change a path's context");
  }
}

/** What was in a file stays there, byte for byte; a session open for reading only changes nothing. */
function checkBytes(manager: SessionManager): void {
  for (const [path, before] of seen.get(manager) ?? []) {
    if (!existsSync(path)) continue;
    const now = readFileSync(path);
    const mayGrow = shared.has(manager) || !manager.isReadOnly();
    const kept = !mayGrow && path === manager.getSessionFile() ? now : now.subarray(0, before.length);
    assert.ok(kept.equals(before), `the earlier bytes of ${path} are unchanged`);
  }
  lookAtFile(manager);
}

function lookAtFile(manager: SessionManager): void {
  const path = manager.getSessionFile();
  const files = seen.get(manager) ?? new Map<string, Buffer>();
  seen.set(manager, files);
  if (path !== undefined && existsSync(path)) files.set(path, readFileSync(path));
}

/** A copy of the file, opened by someone else, is the same session. */
async function checkReopening(manager: SessionManager): Promise<void> {
  const path = manager.getSessionFile();
  if (path === undefined || !manager.hasFile() || !existsSync(path)) return;
  const folder = mkdtempSync(join(tmpdir(), "bough-laws-"));
  try {
    const copy = join(folder, "copy.jsonl");
    copyFileSync(path, copy);
    const other = await SessionManager.open(copy, { readOnly: true });
    assert.deepEqual(asStored(other.getHeader()), asStored(manager.getHeader()));
    assert.deepEqual(pictureOf(other.getIndex()), pictureOf(manager.getIndex()), "reopening gives the same tree");
    if (!manager.isReadOnly()) {
      assert.equal(other.getLeafId(), manager.getLeafId(), "reopening gives the same leaf");
      const { back, forward } = manager.getIndex().moves;
      const { moves } = other.getIndex();
      assert.deepEqual([moves.back, moves.forward], [back, forward], "reopening gives the same way back");
    }
    assert.deepEqual(
      asStored(contextOfPath(other.getBranch(manager.getLeafId()))),
      asStored(manager.buildSessionContext()),
    );
    await other.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From the file where there is one: it may hold leaf records that entries hang below. */
function rebuilt(manager: SessionManager): SessionIndexView {
  const path = manager.getSessionFile();
  if (path !== undefined && manager.hasFile() && existsSync(path)) {
    const reading = readSession(memorySource(readFileSync(path)));
    assert.equal(reading.kind, "session");
    if (reading.kind === "session" && reading.index.size === manager.getIndex().size) return reading.index;
  }
  const index = new SessionEntryIndex();
  manager.getEntries().forEach((entry, n) => index.replay(entry, { line: n + 2, offset: 0, length: 0 }));
  return index;
}

/** All that an index says of its entries; not the leaf, which may have moved since. */
function pictureOf(index: SessionIndexView): unknown {
  const ordinals = Array.from({ length: index.size }, (_, n) => n);
  return asStored({
    entries: index.entries(),
    parents: ordinals.map((n) => index.parentOrdinal(n)),
    treeProblems: ordinals.map((n) => index.treeProblemAt(n) ?? null),
    faults: ordinals.map((n) => index.faultAt(n) ?? null),
    children: [-1, ...ordinals].map((n) => index.treeChildren(n)),
    labels: [...index.labels()].sort(([a], [b]) => (a < b ? -1 : 1)),
    name: index.name ?? null,
    usage: { ...index.usage(), byModel: [...index.usage().byModel] },
  });
}

function tipsOf(index: SessionIndexView): string[] {
  const tips: string[] = [];
  for (let n = index.size - 1; n >= 0 && tips.length < TIPS; n--)
    if (index.treeChildren(n).length === 0) tips.push(index.at(n).id);
  return tips;
}

/** As it comes back from its line. */
const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
