/** What of a branch is told to the model that summarises it, and what comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { digestBranch, generateBranchSummary, prepareBranchEntries } from "../../src/agent/branch-summary.ts";
import type { BranchSummaryOptions, BranchSummaryOutcome } from "../../src/agent/branch-summary.ts";
import { conversationText, messageText } from "../../src/agent/conversation-text.ts";
import type { Endpoint } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { ContextEditEntry } from "../../src/tree/entries.ts";
import { registryFor } from "../support/agent-harness.ts";
import { fail, say, startProvider } from "../support/provider-mock.ts";
import type { ProviderServer, Reply } from "../support/provider-mock.ts";
import { answer, call, user } from "../tree/message-fixtures.ts";

const NONE = { readFiles: [], modifiedFiles: [] };
/** 70 characters, which make 20 tokens with the heading of a prompt before them. */
const twentyTokens = (name: string): string => name.padEnd(70 - "[User]: ".length, ".");

function session(build: (manager: SessionManager) => void): SessionManager {
  const manager = SessionManager.inMemory();
  build(manager);
  return manager;
}

test("[K4] newest first up to the budget, given oldest first; a message longer than all of it is taken alone", () => {
  const entries = session((manager) => {
    for (const name of ["a", "b", "c"]) manager.appendMessage(user(twentyTokens(name)));
    manager.appendModelChange("p", "m");
  }).getEntries();
  const taken = (budget?: number): unknown => {
    const { messages, totalTokens } = prepareBranchEntries(entries, budget);
    return [messages.map((message) => messageText(message)["[User]: ".length]).join(""), totalTokens];
  };
  assert.deepEqual(taken(), ["abc", 60]);
  assert.deepEqual(taken(0), ["abc", 60]);
  assert.deepEqual(taken(60), ["abc", 60]);
  assert.deepEqual(taken(59), ["bc", 40]);
  assert.deepEqual(taken(20), ["c", 20]);
  assert.deepEqual(taken(1), ["c", 20]);
  assert.deepEqual(prepareBranchEntries([]), { messages: [], files: NONE, totalTokens: 0 });
});

test("[K4] a summary that does not fit is taken while less than nine tenths are used, and ends the list", () => {
  const build = (kind: "branch_summary" | "compaction") => (manager: SessionManager) => {
    const first = manager.appendMessage(user(twentyTokens("old")));
    if (kind === "compaction") manager.appendCompaction("s".repeat(700), first, 9);
    else manager.branchWithSummary(first, "s".repeat(700));
    manager.appendMessage(user(twentyTokens("new")));
  };
  for (const kind of ["branch_summary", "compaction"] as const) {
    const entries = session(build(kind)).getEntries();
    const roles = (budget: number): string[] => prepareBranchEntries(entries, budget).messages.map(({ role }) => role);
    const summary = kind === "compaction" ? "compactionSummary" : "branchSummary";
    assert.deepEqual(roles(22), ["user"], "nine tenths are used");
    assert.deepEqual(roles(23), [summary, "user"]);
    assert.deepEqual(roles(1_000), ["user", summary, "user"]);
  }
});

test("[K4] files come from calls in every entry and from every earlier summary that no extension wrote", () => {
  const manager = session((into) => {
    into.appendMessage(user("go"));
    into.appendMessage(answer([call("1", "read", { path: "old.ts" })]));
    const at = into.appendMessage(answer([call("2", "edit", { path: "b.ts" })]));
    into.branchWithSummary(at, "nested", { readFiles: ["nested.ts", "b.ts"], modifiedFiles: ["changed.ts"] });
    into.branchWithSummary(into.getLeafId(), "foreign", { readFiles: ["foreign.ts"] }, true);
    into.branchWithSummary(into.getLeafId(), "odd", { readFiles: 7 });
    into.appendMessage(user("newest"));
  });
  const files = { readFiles: ["nested.ts", "old.ts"], modifiedFiles: ["b.ts", "changed.ts"] };
  assert.deepEqual(prepareBranchEntries(manager.getEntries(), 5).files, files);
  assert.deepEqual(digestBranch(manager.getEntries())?.details, files);
  assert.equal(digestBranch(session((into) => void into.appendModelChange("p", "m")).getEntries()), undefined);
});

test("[K4, C6] what an edit left out of the context, and what the user keeps to himself, is not told", () => {
  const manager = session((into) => {
    into.appendMessage(user("secret"));
    into.appendMessage(user("said"));
    into.appendMessage({
      role: "bashExecution",
      command: "private",
      output: "",
      cancelled: false,
      truncated: false,
      excludeFromContext: true,
      timestamp: 0,
    });
    into.appendCustomMessageEntry("note", "from an extension", false);
  });
  const entries = manager.getEntries();
  const edit: ContextEditEntry = {
    type: "context_edit",
    id: "edit",
    parentId: manager.getLeafId(),
    timestamp: "",
    targetId: entries[0]!.id,
    replacement: null,
  };
  assert.equal(
    conversationText(prepareBranchEntries([...entries, edit]).messages),
    "[User]: said\n\n[User]: from an extension",
  );
});

interface Asked {
  outcome: BranchSummaryOutcome;
  server: ProviderServer;
  prompts: string[];
}

async function ask(
  t: TestContext,
  replies: Reply | readonly Reply[],
  build: (manager: SessionManager) => void,
  options: Partial<BranchSummaryOptions> & Pick<Endpoint, "contextWindow"> = {},
): Promise<Asked> {
  const server = await startProvider(replies);
  t.after(() => server.close());
  const { contextWindow, ...given } = options;
  const endpoint = {
    baseUrl: server.baseUrl,
    model: "mock",
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
  const { registry, model } = await registryFor(endpoint);
  const { signal } = new AbortController();
  const outcome = await generateBranchSummary(session(build).getEntries(), { registry, model, signal, ...given });
  return { outcome, server, prompts: server.requests.map(({ body }) => String(body.messages[1]!.content)) };
}

const HEADINGS = ["Goal", "Constraints", "Progress", "Key decisions", "Next steps"];
const headingsIn = (text: string): string[] => [...text.matchAll(/^## (.*)$/gm)].map(([, name]) => name!);
const work = (manager: SessionManager): void => {
  manager.appendMessage(user("fix it"));
  manager.appendMessage(answer([call("1", "read", { path: "a.ts" }), call("2", "write", { path: "b.ts" })]));
};

test("[K4] the summary: asked for under five headings, the files at its end, its usage beside it", async (t) => {
  const { outcome, prompts } = await ask(t, say("All is well."), work, { customInstructions: " the tests " });
  assert.ok(outcome.kind === "summary");
  assert.equal(
    outcome.summary,
    "All is well.\n\n<read-files>\na.ts\n</read-files>\n\n<modified-files>\nb.ts\n</modified-files>",
  );
  assert.deepEqual(outcome.details, { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] });
  assert.deepEqual([outcome.usage.input, outcome.usage.output], [100, 10]);
  assert.deepEqual(headingsIn(prompts[0]!), HEADINGS);
  assert.ok(prompts[0]!.startsWith("<conversation>\n[User]: fix it\n\n[Assistant tool calls]: read("));
  assert.ok(prompts[0]!.endsWith("\n\nAdditional focus: the tests"));
});

test("[K4] replaceInstructions puts the user's in place of bough's, if there are any", async (t) => {
  const replaced = await ask(t, say("ok"), work, { customInstructions: "One line.", replaceInstructions: true });
  assert.ok(replaced.prompts[0]!.endsWith("</conversation>\n\nOne line."));
  const empty = await ask(t, say("ok"), work, { customInstructions: " ", replaceInstructions: true });
  assert.deepEqual(headingsIn(empty.prompts[0]!), HEADINGS);
});

test("[K4] a branch without conversation asks nobody", async (t) => {
  const { outcome, server } = await ask(t, say("?"), (manager) => void manager.appendModelChange("p", "m"));
  assert.deepEqual([outcome, server.requests.length], [{ kind: "nothing" }, 0]);
});

test("[K4] the budget is the window less the reserve, which never takes more than half of it", async (t) => {
  const long = (manager: SessionManager): void => {
    for (let n = 0; n < 100; n++) manager.appendMessage(user(`${n} ${"x".repeat(3_500)}`));
  };
  const told = ({ prompts }: Asked): number => prompts[0]!.match(/\[User\]/g)?.length ?? 0;
  // 1,004 tokens each: 23,616 and 4,096 tokens of room.
  assert.equal(told(await ask(t, say("ok"), long, { contextWindow: 40_000 })), 23);
  assert.equal(told(await ask(t, say("ok"), long, { contextWindow: 8_192 })), 4);
  assert.equal(told(await ask(t, say("ok"), long, { contextWindow: 40_000, reserveTokens: 0 })), 39);
});

test("[K4] one message longer than the window is cut to it", async (t) => {
  const { prompts } = await ask(t, say("ok"), (manager) => void manager.appendMessage(user("x".repeat(100_000))), {
    contextWindow: 8_192,
  });
  assert.equal(prompts[0]!.match(/x{100,}/)?.[0].length, 4_096 * 3.5 - "[User]: ".length);
});

test("[K4] a model whose window is smaller than it says gets half, twice; then it is told", async (t) => {
  const tooLong = fail(400, "prompt is too long: 9 tokens > 8 maximum");
  const many = (manager: SessionManager): void => {
    for (let n = 0; n < 8; n++) manager.appendMessage(user(`${n} ${"x".repeat(3_500)}`));
  };
  const counts = ({ prompts }: Asked): number[] => prompts.map((prompt) => prompt.match(/\[User\]/g)?.length ?? 0);
  const second = await ask(t, [tooLong, say("short")], many, { contextWindow: 16_384 });
  assert.deepEqual([second.outcome.kind, counts(second)], ["summary", [8, 4]]);
  const never = await ask(t, tooLong, many, { contextWindow: 16_384 });
  assert.deepEqual(counts(never), [8, 4, 2]);
  assert.deepEqual(never.outcome, {
    kind: "failed",
    reason: "The conversation is too long for mock to summarise.",
    isOverflow: true,
  });
});
