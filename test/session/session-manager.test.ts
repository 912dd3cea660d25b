import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SessionFileError } from "../../src/session/session-errors.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { watchDisk } from "../support/disk-faults.ts";
import { checkLaws, trackSession } from "../support/laws.ts";
import { assistant, contentOf, recordsIn, temporaryFolder, user } from "../support/session-files.ts";
import { sealed } from "../support/session-lines.ts";

const ids = (entries: readonly SessionEntry[]): string[] => entries.map((entry) => entry.id);
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** An entry without what differs from run to run. */
function shape(session: SessionManager, id: string): object {
  const { id: _id, timestamp, ...rest } = session.getEntry(id)!;
  assert.match(timestamp, ISO);
  return rest;
}

test("[F1, W1, T3] the file appears with the first content, all that waited in one write", (t) => {
  const disk = watchDisk(t);
  const folder = join(temporaryFolder(), "sessions");
  const session = trackSession(t, SessionManager.create("/w", folder));
  const path = session.getSessionFile()!;
  session.appendModelChange("anthropic", "claude-x");
  session.appendThinkingLevelChange("high");
  session.setSessionName("Early");
  assert.deepEqual([session.hasFile(), existsSync(folder), disk.writes], [false, false, []]);
  session.appendMessage(user("hello"));
  assert.deepEqual([session.hasFile(), disk.writes.length], [true, 1]);
  const { id, timestamp } = session.getHeader();
  assert.deepEqual(recordsIn(path), [
    { type: "session", version: 3, id, timestamp, cwd: "/w" },
    ...session.getEntries(),
  ]);
  assert.equal(path, join(folder, `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`));
  session.appendMessage(assistant("hi"));
  assert.equal(disk.writes.length, 2);
  assert.equal(disk.writes[1], `${sealed(JSON.stringify(session.getLeafEntry()))}\n`);
});

test("[W1] custom messages and both kinds of summary are content too; labels and extension state are not", async (t) => {
  const folder = temporaryFolder();
  const starts: [string, (session: SessionManager) => void, boolean][] = [
    ["custom_message", (session) => session.appendCustomMessageEntry("note", "text", false), true],
    ["branch_summary", (session) => session.branchWithSummary(null, "summary"), true],
    ["compaction", (session) => session.appendCompaction("summary", session.appendModeChange("plan"), 1), true],
    ["custom", (session) => session.appendCustomEntry("state"), false],
    ["label", (session) => session.appendLabelChange(session.appendModeChange("plan"), "x"), false],
  ];
  for (const [kind, start, expected] of starts) {
    const session = trackSession(t, SessionManager.create("/w", folder));
    start(session);
    await session.flush();
    assert.deepEqual([kind, session.hasFile(), existsSync(session.getSessionFile()!)], [kind, expected, expected]);
  }
});

test("[F7] a session without content leaves nothing behind when it is closed", async () => {
  const folder = join(temporaryFolder(), "sessions");
  const session = SessionManager.create("/w", folder);
  session.appendModeChange("plan");
  session.resetLeaf();
  await session.close();
  assert.equal(existsSync(folder), false);
});

test("[T3, F2, F3] each appender makes its entry below the leaf and moves the leaf to it", (t) => {
  const session = trackSession(t, SessionManager.inMemory("/w"));
  const names = ["read"];
  const made: [string, object][] = [
    [session.appendMessage(user("q")), { type: "message", message: user("q") }],
    [
      session.appendModelChange("openrouter", "z/glm"),
      { type: "model_change", provider: "openrouter", modelId: "z/glm", model: "openrouter/z/glm" },
    ],
    [session.appendThinkingLevelChange("high"), { type: "thinking_level_change", thinkingLevel: "high" }],
    [
      session.appendThinkingLevelChange("low", "auto"),
      { type: "thinking_level_change", thinkingLevel: "low", configured: "auto" },
    ],
    [
      session.appendServiceTierChange({ openai: "flex" }),
      { type: "service_tier_change", serviceTier: { openai: "flex" } },
    ],
    [session.appendServiceTierChange(null), { type: "service_tier_change", serviceTier: null }],
    [session.appendModeChange("plan", { file: "p.md" }), { type: "mode_change", mode: "plan", data: { file: "p.md" } }],
    [session.appendModeChange("none"), { type: "mode_change", mode: "none" }],
    [session.appendMCPToolSelection(names), { type: "mcp_tool_selection", selectedToolNames: ["read"] }],
    [session.appendTtsrInjection(names), { type: "ttsr_injection", injectedRules: ["read"] }],
    [
      session.appendSessionInit({ systemPrompt: "s", task: "t", tools: names }),
      { type: "session_init", systemPrompt: "s", task: "t", tools: ["read"] },
    ],
    [session.appendCustomEntry("state", { n: 1 }), { type: "custom", customType: "state", data: { n: 1 } }],
    [session.appendCustomEntry("state"), { type: "custom", customType: "state" }],
    [
      session.appendCustomMessageEntry("note", "text", false, { n: 1 }),
      { type: "custom_message", customType: "note", content: "text", display: false, details: { n: 1 } },
    ],
    [session.setSessionName("Name", "auto")!, { type: "session_info", name: "Name", source: "auto" }],
  ];
  const first = made[0]![0];
  made.push(
    [session.appendLabelChange(first, "here"), { type: "label", targetId: first, label: "here" }],
    [session.appendLabelChange(first, ""), { type: "label", targetId: first }],
    [session.appendLabelChange(first), { type: "label", targetId: first }],
    [
      session.appendCompaction("sum", first, 99, { files: [] }, true, { kept: 1 }),
      {
        type: "compaction",
        summary: "sum",
        firstKeptEntryId: first,
        tokensBefore: 99,
        details: { files: [] },
        preserveData: { kept: 1 },
        fromExtension: true,
      },
    ],
    [
      session.appendCompaction("sum", first, 99),
      { type: "compaction", summary: "sum", firstKeptEntryId: first, tokensBefore: 99 },
    ],
  );
  names.push("changed later");
  let parentId: string | null = null;
  for (const [id, fields] of made) {
    assert.deepEqual(shape(session, id), { parentId, ...fields });
    assert.deepEqual(Object.keys(session.getEntry(id)!).slice(0, 4), ["type", "id", "parentId", "timestamp"]);
    parentId = id;
  }
  assert.deepEqual(
    ids(session.getEntries()),
    made.map(([id]) => id),
  );
  assert.equal(session.getLeafId(), made.at(-1)![0]);
});

test("[F5] ids are 8 hexadecimal characters, session ids UUIDs of version 7", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  for (let n = 0; n < 50; n++) assert.match(session.appendMessage(user("x")), /^[0-9a-f]{8}$/);
  assert.match(session.getSessionId(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("[T2] questions about an empty session", (t) => {
  const session = trackSession(t, SessionManager.inMemory("/w"));
  assert.deepEqual(
    {
      leaf: session.getLeafId(),
      leafEntry: session.getLeafEntry(),
      entry: session.getEntry("nope"),
      children: session.getChildren(null),
      childrenOfNobody: session.getChildren("nope"),
      branch: session.getBranch(),
      branchOfNobody: session.getBranch("nope"),
      tree: session.getTree(),
      label: session.getLabel("nope"),
      entries: session.getEntries(),
      file: session.getSessionFile(),
      hasFile: session.hasFile(),
      name: session.getSessionName(),
      cwd: session.getCwd(),
      readOnly: session.isReadOnly(),
      problems: session.getProblems(),
    },
    {
      leaf: null,
      leafEntry: undefined,
      entry: undefined,
      children: [],
      childrenOfNobody: [],
      branch: [],
      branchOfNobody: [],
      tree: [],
      label: undefined,
      entries: [],
      file: undefined,
      hasFile: false,
      name: undefined,
      cwd: "/w",
      readOnly: false,
      problems: [],
    },
  );
  assert.deepEqual(session.buildSessionContext().messages, []);
});

test("[T2, T6] branches: children in append order, paths from the root, several roots", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  const c = session.appendMessage(user("c"));
  session.branch(a);
  assert.deepEqual([session.getLeafId(), session.getEntries().length], [a, 3]);
  const d = session.appendMessage(assistant("d"));
  session.branch(a);
  const e = session.appendMessage(assistant("e"));
  session.resetLeaf();
  assert.equal(session.getLeafId(), null);
  const f = session.appendMessage(user("f"));
  assert.deepEqual(ids(session.getChildren(a)), [b, d, e]);
  assert.deepEqual(ids(session.getChildren(null)), [a, f]);
  assert.deepEqual(
    [ids(session.getBranch(c)), ids(session.getBranch()), ids(session.getBranch(e))],
    [[a, b, c], [f], [a, e]],
  );
  const tree = session.getTree().map((node) => [node.entry.id, node.children.map((child) => child.entry.id)]);
  assert.deepEqual(tree, [
    [a, [b, d, e]],
    [f, []],
  ]);
});

test("[T6] unknown ids are refused with their name, and nothing moves", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  const a = session.appendMessage(user("a"));
  const expected = new Error("Entry nope not found");
  assert.throws(() => session.branch("nope"), expected);
  assert.throws(() => session.branchWithSummary("nope", "s"), expected);
  assert.throws(() => session.appendLabelChange("nope", "x"), expected);
  assert.throws(() => session.appendCompaction("s", "nope", 1), expected);
  assert.throws(() => session.createBranchedSession("nope"), expected);
  assert.throws(() => session.exportBranch("nope"), expected);
  assert.deepEqual([session.getLeafId(), ids(session.getEntries())], [a, [a]]);
});

test("[T6] dB46 a branch summary hangs where it was asked for and names the branch point", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  const a = session.appendMessage(user("a"));
  session.appendMessage(assistant("b"));
  const s = session.branchWithSummary(a, "what was left", { files: 1 }, true);
  const root = session.branchWithSummary(null, "from the start");
  assert.deepEqual(shape(session, s), {
    type: "branch_summary",
    parentId: a,
    fromId: a,
    summary: "what was left",
    details: { files: 1 },
    fromExtension: true,
  });
  assert.deepEqual(shape(session, root), {
    type: "branch_summary",
    parentId: null,
    fromId: "root",
    summary: "from the start",
  });
  assert.equal(session.getLeafId(), root);
});

test("[T3] a compaction cannot keep from an entry of another branch", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.branch(a);
  session.appendMessage(assistant("c"));
  assert.throws(() => session.appendCompaction("s", b, 1), new Error(`Entry ${b} is not on the current branch`));
  session.appendCompaction("s", a, 1);
});

test("[C1] summaries' own messages are not stored", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  for (const role of ["branchSummary", "compactionSummary"]) {
    const message = { role, summary: "s" } as unknown as AgentMessage;
    assert.throws(
      () => session.appendMessage(message as never),
      new TypeError(`A ${role} message is derived from its entry and cannot be stored`),
    );
  }
  assert.deepEqual(session.getEntries(), []);
});

test("[T3, P1] dB62 names: one line, a user's name is never replaced by an automatic one, empty clears", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  session.setSessionName("auto one", "auto");
  session.setSessionName("auto two", "auto");
  assert.equal(session.getSessionName(), "auto two");
  session.setSessionName("  Mine\r\n\u001b[31m now\u2028x\u0085 ");
  assert.equal(session.getSessionName(), "Mine [31m now x");
  const before = session.getEntries().length;
  assert.equal(session.setSessionName("auto three", "auto"), undefined);
  assert.equal(session.getEntries().length, before);
  session.setSessionName("", "user");
  assert.equal(session.getSessionName(), undefined);
  session.setSessionName("auto four", "auto");
  assert.equal(session.getSessionName(), "auto four");
});

test("[T8] labels are global: the last one in file order wins on every branch, empty clears", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.appendLabelChange(a, "one");
  session.branch(a);
  session.appendLabelChange(a, "two");
  session.appendLabelChange(b, "__proto__");
  assert.deepEqual([session.getLabel(a), session.getLabel(b)], ["two", "__proto__"]);
  session.appendLabelChange(a, "");
  assert.equal(session.getLabel(a), undefined);
  session.appendLabelChange(a, "three");
  assert.equal(session.getTree()[0]!.label, "three");
  await checkLaws(session);
});

test("[W1] a failed append throws, changes nothing in memory, and can be tried again", async (t) => {
  const disk = watchDisk(t);
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.branch(a);
  const path = session.getSessionFile()!;
  const before = session.getEntries();
  for (const partly of [0, 20]) {
    disk.writeFault = { code: "ENOSPC", partly };
    const append = [
      () => session.appendMessage(user("c")),
      () => session.branchWithSummary(b, "s"),
      () => session.appendLabelChange(a, "label"),
      () => session.setSessionName("name"),
    ];
    for (const attempt of append) assert.throws(attempt, (error: unknown) => error instanceof SessionFileError);
    await assert.rejects(session.flush(), { code: "write-failed", path });
    assert.deepEqual(
      [session.getEntries(), session.getLeafId(), session.getLabel(a), session.getSessionName()],
      [before, a, undefined, undefined],
    );
    disk.writeFault = undefined;
  }
  const c = session.appendMessage(user("c"));
  assert.deepEqual(shape(session, c), { type: "message", parentId: a, message: user("c") });
});

test("[W1] a first write that fails leaves no file, and the next try writes all that waited", (t) => {
  const disk = watchDisk(t);
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.appendModeChange("plan");
  disk.writeFault = { code: "ENOSPC", partly: 30 };
  assert.throws(() => session.appendMessage(user("a")), { code: "write-failed" });
  assert.deepEqual(
    [session.hasFile(), existsSync(session.getSessionFile()!), session.getEntries().length],
    [false, false, 1],
  );
  disk.writeFault = undefined;
  session.appendMessage(user("a"));
  assert.equal(recordsIn(session.getSessionFile()!).length, 3);
});

test("[W1] what cannot be a line is refused before anything is written", (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.appendMessage(user("a"));
  const loop: { self?: unknown } = {};
  loop.self = loop;
  assert.throws(() => session.appendCustomEntry("x", loop), TypeError);
  assert.throws(() => session.appendCustomEntry("x", 1n), TypeError);
  assert.equal(session.getEntries().length, 1);
});

test("[L1] dB30 a jump is written once by flush, and reopening finds the leaf there; the way back stays", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const made = ["a1", "a2", "a3", "a4", "a5"].map((text) => session.appendMessage(user(text)));
  const path = session.getSessionFile()!;
  session.branch(made[3]!);
  session.branch(made[1]!);
  const before = contentOf(path);
  await session.flush();
  await session.flush();
  const added = recordsIn(path).slice(6) as Record<string, unknown>[];
  assert.equal(contentOf(path).startsWith(before), true);
  const { id, timestamp, ...rest } = added[0]!;
  assert.deepEqual([rest, added.length], [{ type: "leaf", parentId: made[1], via: "jump" }, 1]);
  assert.match(String(id), /^[0-9a-f]{8}$/);
  assert.match(String(timestamp), ISO);
  const again = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([again.getLeafId(), ids(again.getEntries())], [made[1], made]);
  assert.deepEqual(ids(again.getBranch(made[4])), made);
});

test("[L1] no leaf record when an entry follows the move, or when the leaf came back", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.branch(a);
  session.branch(b);
  await session.flush();
  session.branch(a);
  session.appendMessage(user("c"));
  await session.flush();
  const types = recordsIn(session.getSessionFile()!).map((record) => (record as { type: string }).type);
  assert.deepEqual(types, ["session", "message", "message", "message"]);
});

test("[L1, L2] a label after a jump does not move a reader's leaf, so flush writes where the leaf is", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  session.appendMessage(assistant("b"));
  session.branch(a);
  const label = session.appendLabelChange(a, "x");
  await session.flush();
  const again = trackSession(t, await SessionManager.open(session.getSessionFile()!, { readOnly: true }));
  assert.equal(again.getLeafId(), label);
});

test("[L1, F3] back from a label on another branch: flush writes it, since pi and omp go by the last line", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  const b = session.appendMessage(assistant("b"));
  session.branch(a);
  session.appendLabelChange(a, "x");
  session.branch(b);
  await session.flush();
  await session.flush();
  const last = recordsIn(session.getSessionFile()!).slice(4) as { type: string; parentId: string }[];
  assert.deepEqual(
    last.map(({ type, parentId }) => [type, parentId]),
    [["leaf", b]],
  );
});

test("[L1] a move before the first entry is kept too", async (t) => {
  const session = SessionManager.create("/w", temporaryFolder());
  session.appendMessage(user("a"));
  session.resetLeaf();
  await session.close();
  const again = trackSession(t, await SessionManager.open(session.getSessionFile()!));
  assert.equal(again.getLeafId(), null);
  assert.equal(shape(again, again.appendMessage(user("b")))["parentId" as never], null);
});

test("[F5, L1] an id is never one that a leaf record has", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const a = session.appendMessage(user("a"));
  session.appendMessage(user("b"));
  session.branch(a);
  await session.flush();
  const leaf = recordsIn(session.getSessionFile()!).at(-1) as { id: string };
  assert.equal(session.getIndex().isTaken(leaf.id), true);
  assert.equal(session.getIndex().has(leaf.id), false);
});

test("[W2, T2] flush reaches the disk once for many entries", async (t) => {
  const disk = watchDisk(t);
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  for (let n = 0; n < 5; n++) session.appendMessage(user("x"));
  await session.flush();
  assert.equal(disk.syncs, 1);
});

test("[B2] newSession starts an empty one beside, and the next flush covers both", async (t) => {
  const disk = watchDisk(t);
  const folder = temporaryFolder();
  const session = trackSession(t, SessionManager.create("/w", folder));
  const a = session.appendMessage(user("a"));
  session.appendMessage(user("b"));
  session.branch(a);
  const old = session.getSessionFile()!;
  const oldId = session.getSessionId();
  const path = session.newSession({ parentSession: old })!;
  assert.deepEqual(
    [session.getEntries(), session.getLeafId(), session.hasFile(), session.getCwd(), session.getHeader().parentSession],
    [[], null, false, "/w", old],
  );
  assert.notEqual(session.getSessionId(), oldId);
  assert.equal(path, session.getSessionFile());
  assert.deepEqual(readdirSync(folder).length, 1);
  await session.flush();
  assert.equal(disk.syncs, 1);
  const before = trackSession(t, await SessionManager.open(old));
  assert.equal(before.getLeafId(), a);
  session.appendMessage(user("new"));
  assert.equal(readdirSync(folder).length, 2);
});

test("[B2, T2] flush tells when the session left behind could not be synced", async (t) => {
  const disk = watchDisk(t);
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()), { unsaved: true });
  session.appendMessage(user("a"));
  const old = session.getSessionFile()!;
  disk.syncFault = { code: "EIO" };
  session.newSession();
  await assert.rejects(session.flush(), { code: "sync-failed", path: old });
});

test("[T9] in memory: everything works, there is no file", async (t) => {
  const session = trackSession(t, SessionManager.inMemory("/w"));
  const a = session.appendMessage(user("a"));
  session.appendMessage(assistant("b"));
  session.branch(a);
  session.appendMessage(assistant("c"));
  session.appendLabelChange(a, "label");
  await session.flush();
  assert.equal(session.getUsage().output, 20);
  assert.deepEqual(
    [session.getSessionFile(), session.hasFile(), session.buildSessionContext().messages.length],
    [undefined, false, 2],
  );
  assert.equal(session.newSession({ parentSession: "/p.jsonl" }), undefined);
  assert.deepEqual([session.getEntries(), session.getHeader().parentSession], [[], "/p.jsonl"]);
});

test("[T1] usage is kept up as entries come, over all branches", (t) => {
  const session = trackSession(t, SessionManager.inMemory());
  const a = session.appendMessage(user("a"));
  session.appendMessage(assistant("b", 10));
  assert.equal(session.getUsage().output, 10);
  session.branch(a);
  session.appendMessage(assistant("c", 5));
  assert.deepEqual([session.getUsage().output, session.getUsage().cost], [15, 1.5]);
});

test("[W1] after close nothing more is taken", async () => {
  const session = SessionManager.create("/w", temporaryFolder());
  session.appendMessage(user("a"));
  await session.close();
  const before = contentOf(session.getSessionFile()!);
  assert.throws(
    () => session.appendMessage(user("b")),
    new Error(`The store of ${session.getSessionFile()} is closed`),
  );
  assert.equal(contentOf(session.getSessionFile()!), before);
});

test("[C1] what a path says beside its messages can be asked for of any entry, and the leaf stays", (t) => {
  const session = trackSession(t, SessionManager.inMemory("/w"));
  session.appendMessage(user("first"));
  session.appendTtsrInjection(["a"]);
  session.appendThinkingLevelChange("high");
  const fork = session.appendModeChange("plan", { title: "x" });
  session.appendTtsrInjection(["b"]);
  const leaf = session.getLeafId();
  for (const { id } of session.getEntries()) {
    const { messages: _, ...state } = session.buildSessionContext(id);
    assert.deepEqual(session.getContextState(id), state);
  }
  assert.deepEqual(session.getContextState(fork).injectedTtsrRules, ["a"]);
  assert.deepEqual(session.getContextState().injectedTtsrRules, ["a", "b"]);
  assert.deepEqual(session.getContextState("unknown"), session.getContextState(null));
  assert.equal(session.getLeafId(), leaf);
});
