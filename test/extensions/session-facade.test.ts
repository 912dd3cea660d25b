import assert from "node:assert/strict";
import { test } from "node:test";
import { foldBranch } from "../../src/extensions/fold-branch.ts";
import { ReadonlySession } from "../../src/extensions/session-facade.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";

function setUp() {
  const manager = SessionManager.inMemory("/work");
  const first = manager.appendMessage({ role: "user", content: [{ type: "text", text: "One" }], timestamp: 1 });
  const second = manager.appendCustomEntry("note", { text: "two" });
  manager.branch(first);
  const third = manager.appendCustomEntry("note", { text: "three" });
  return { manager, facade: new ReadonlySession(manager), first, second, third };
}

test("[X1] extensions read everything of a session, and what they read is as it is there", () => {
  const { manager, facade, first, second, third } = setUp();
  manager.setSessionName("Name");
  manager.appendLabelChange(first, "start");
  for (const method of [
    "getEntries",
    "getBranch",
    "getTree",
    "getLeafEntry",
    "getHeader",
    "buildSessionContext",
  ] as const)
    assert.deepEqual(facade[method](), manager[method](), method);
  assert.deepEqual(facade.getEntry(second), manager.getEntry(second));
  assert.deepEqual(facade.getBranch(second), manager.getBranch(second));
  assert.deepEqual(facade.getChildren(first), manager.getChildren(first));
  assert.deepEqual(
    [facade.getSessionId(), facade.getCwd(), facade.getSessionName(), facade.getLabel(first), facade.getLeafId()],
    [manager.getSessionId(), "/work", "Name", "start", manager.getLeafId()],
  );
  assert.deepEqual(
    [facade.getSessionFile(), facade.getSessionDir(), facade.getEntry("none")],
    [undefined, "", undefined],
  );
  assert.equal(facade.getEntry(third)?.type, "custom");
});

test("[X1] nothing of it writes, and changed entries are changed for extensions alone", () => {
  const { manager, facade, first } = setUp();
  const before = structuredClone(manager.getEntries());
  for (const entry of facade.getEntries() as unknown as Record<string, unknown>[]) {
    entry["parentId"] = "nowhere";
    if (entry["message"] !== undefined) (entry["message"] as { content: unknown[] }).content.push("more");
    if (entry["data"] !== undefined) (entry["data"] as { text: string }).text = "other";
  }
  for (const node of facade.getTree()) node.children.length = 0;
  assert.deepEqual(manager.getEntries(), before);
  assert.equal(manager.getTree()[0]?.children.length, 2);

  const reachable = new Set<string>();
  for (let type: unknown = facade; type !== Object.prototype; type = Object.getPrototypeOf(type))
    for (const name of Object.getOwnPropertyNames(type)) reachable.add(name);
  assert.deepEqual([...reachable].sort(), [
    "buildSessionContext",
    "constructor",
    "getBranch",
    "getChildren",
    "getCwd",
    "getEntries",
    "getEntry",
    "getHeader",
    "getLabel",
    "getLeafEntry",
    "getLeafId",
    "getSessionDir",
    "getSessionFile",
    "getSessionId",
    "getSessionName",
    "getTree",
  ]);
  // The same entry is the same object each time: who compares them finds it again.
  assert.equal(facade.getEntry(first), facade.getEntries()[0]);
});

test("[X1] foldBranch follows the leaf, and folds only what was appended", () => {
  const { manager, facade, second, third } = setUp();
  const folded: string[] = [];
  const notes = foldBranch<string[]>(
    () => [],
    (list, entry: SessionEntry) => {
      folded.push(entry.id);
      return entry.type === "custom" ? [...list, (entry.data as { text: string }).text] : list;
    },
  );
  const ctx = { sessionManager: facade };
  assert.deepEqual(notes(ctx), ["three"]);
  folded.length = 0;
  const added = [
    manager.appendCustomEntry("note", { text: "four" }),
    manager.appendCustomEntry("note", { text: "five" }),
  ];
  assert.deepEqual([notes(ctx), notes(ctx), folded], [["three", "four", "five"], ["three", "four", "five"], added]);
  manager.branch(second);
  assert.deepEqual(notes(ctx), ["two"]);
  manager.branch(third);
  assert.deepEqual(notes(ctx), ["three"]);
  manager.resetLeaf();
  assert.deepEqual(notes(ctx), []);
  manager.appendCustomEntry("note", { text: "new" });
  assert.deepEqual(notes(ctx), ["new"]);
  manager.newSession();
  assert.deepEqual(notes(ctx), []);
});

test("[X1] a step that throws leaves no half-made state", () => {
  const { manager, facade } = setUp();
  let fails = true;
  const count = foldBranch<number>(
    () => 0,
    (sum, entry) => {
      if (fails && entry.type === "custom") throw new Error("not now");
      return sum + 1;
    },
  );
  assert.throws(() => count({ sessionManager: facade }), { message: "not now" });
  fails = false;
  manager.appendCustomEntry("x");
  assert.equal(count({ sessionManager: facade }), 3);
});
