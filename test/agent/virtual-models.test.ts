/** Models that send each request to another one: what routers are told, what comes of their answers, and what stays. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { ModelRegistry } from "../../src/agent/models.ts";
import type { ModelRoute, ModelRouteRequest } from "../../src/agent/virtual-models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import { fileLines, startHarness, tool } from "../support/agent-harness.ts";
import type { HarnessOptions } from "../support/agent-harness.ts";
import { callTools, fail, say, using } from "../support/provider-mock.ts";

type Router = (request: ModelRouteRequest, registry: ModelRegistry) => unknown;

const to = (registry: ModelRegistry, id: string, more: object = {}): ModelRoute => ({
  model: registry.find("lab", id)!,
  thinkingLevel: "off",
  ...more,
});

/** A session whose model "router/auto" goes by `router` to "lab/big" and "lab/small", on the harness's server. */
async function routed(t: TestContext, router: Router, options: HarnessOptions = {}) {
  const registry = await ModelRegistry.load({ environment: {} });
  const asked: ModelRouteRequest[] = [];
  const harness = await startHarness(t, { ...options, registry });
  const models = ["big", "small"].map((id) => ({ id, reasoning: id === "big", contextWindow: 50_000 }));
  registry.register("lab", { baseUrl: harness.server.baseUrl, api: "openai-completions", models });
  registry.registerVirtual({
    provider: "router",
    id: "auto",
    name: "Auto",
    thinkingLevels: ["low", "high"],
    contextWindow: 100_000,
    route: (request) => {
      asked.push(request);
      return router(request, registry) as ModelRoute;
    },
  });
  harness.session.setModel(registry.find("router", "auto")!);
  const sentTo = (): string[] => harness.server.requests.map(({ body }) => body.model);
  return { ...harness, asked, sentTo };
}

const entryTypes = (manager: SessionManager): string[] =>
  manager.getEntries().flatMap(({ type }) => (type === "custom" || type === "model_change" ? [type] : []));

test("[X6] each request goes where the router says, with what it is about; the choice stays, the answers name who answered", async (t) => {
  const { session, manager, asked, sentTo, server } = await routed(
    t,
    ({ reason, thinkingLevel }, registry) => to(registry, reason === "user" ? "big" : "small", { thinkingLevel }),
    {
      tools: () => [tool("echo", () => "ok")],
      replies: [callTools({ id: "c", name: "echo", arguments: {} }), say("One."), say("Two.")],
    },
  );
  session.setThinkingLevel("high");
  await session.prompt("First");
  await session.prompt("Second");
  assert.deepEqual(sentTo(), ["big", "small", "big"]);
  assert.deepEqual(
    server.requests.map(({ body }) => body["reasoning_effort"]),
    ["high", undefined, "high"],
  );
  assert.deepEqual(
    asked.map(({ reason, previous, failed }) => [reason, previous?.model.id, previous?.thinkingLevel, failed]),
    [
      ["user", undefined, undefined, undefined],
      ["continuation", "big", "high", undefined],
      ["user", "small", "off", undefined],
    ],
  );
  assert.deepEqual(asked[1]!.messages.map(({ role }) => role).slice(-3), ["user", "assistant", "toolResult"]);
  assert.deepEqual(
    [session.model?.id, session.thinkingLevel, session.getContextUsage()?.window],
    ["auto", "high", 50_000],
  );
  const answers = manager.getBranch().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  assert.deepEqual(
    answers.flatMap((message) => (message.role === "assistant" ? [`${message.provider}/${message.model}`] : [])),
    ["lab/big", "lab/small", "lab/big"],
  );
  assert.equal(entryTypes(manager).filter((type) => type === "model_change").length, 1);
});

test("[X6, C1] what a router remembers is of its branch, is written when it changes, and is there after a restart", async (t) => {
  const count: Router = ({ state, reason }, registry) => {
    const n = (state as { n: number } | undefined)?.n ?? 0;
    return to(registry, "big", { state: { n: reason === "user" && n < 2 ? n + 1 : n } });
  };
  const first = await routed(t, count, { replies: say("ok") });
  const { session, manager, asked } = first;
  await session.prompt("One");
  const there = manager.getLeafId()!;
  await session.prompt("Two");
  await session.prompt("Three");
  assert.deepEqual(
    asked.map(({ state }) => state),
    [undefined, { n: 1 }, { n: 2 }],
  );
  assert.deepEqual(
    fileLines(manager).flatMap(({ customType, data }) => (customType === "pi.virtual-model-state" ? [data] : [])),
    [1, 2].map((n) => ({ provider: "router", modelId: "auto", state: { n } })),
  );
  await session.navigateTree(there);
  await session.prompt("Another two");
  assert.deepEqual(asked.at(-1)?.state, { n: 1 });
  await session.dispose();
  await manager.close();
  const again = await routed(t, count, {
    replies: say("ok"),
    manager: await SessionManager.open(manager.getSessionFile()!),
  });
  assert.deepEqual([again.session.model?.id, entryTypes(again.manager).length], ["auto", entryTypes(manager).length]);
  await again.session.prompt("Go on");
  assert.deepEqual(again.asked[0]?.state, { n: 2 });
});

test("[X6] a failed request is tried again where the router says, which is told of it", async (t) => {
  const { session, asked, sentTo } = await routed(
    t,
    ({ failed }, registry) => to(registry, failed === undefined ? "big" : "small"),
    { replies: [fail(503, "busy"), say("Now.")] },
  );
  await session.prompt("Go");
  assert.deepEqual(sentTo(), ["big", "small"]);
  const { reason, failed, messages } = asked[1]!;
  assert.deepEqual([reason, failed?.model.id, failed?.message.stopReason], ["retry", "big", "error"]);
  assert.deepEqual(
    messages.map(({ role }) => role).filter((role) => role !== "system"),
    ["user"],
  );
});

test("[X3, X6] a router that throws, hangs or names nothing that can be asked is the answer's error", async (t) => {
  const routers: Router[] = [
    () => {
      throw new Error("lost");
    },
    () => undefined,
    () => ({ model: "big" }),
    ({ model }) => ({ model, thinkingLevel: "off" }),
    (_, registry) => to(registry, "big", { state: { n: 1n } }),
  ];
  const reasons: unknown[] = [];
  for (const router of routers) {
    const { session, server } = await routed(t, router, {
      retry: { enabled: false, maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1 },
    });
    await session.prompt("Go");
    const answer = session.messages.at(-1);
    reasons.push(answer?.role === "assistant" && answer.errorMessage);
    assert.deepEqual([answer?.role === "assistant" && answer.model, server.requests.length], ["auto", 0]);
  }
  const nothing = "The virtual model router/auto has named no model.";
  assert.deepEqual(reasons.slice(0, 4), ["lost", nothing, nothing, nothing]);
  assert.match(String(reasons[4]), /BigInt/);

  const hanging = await routed(t, () => new Promise(() => undefined));
  const prompted = hanging.session.prompt("Go");
  while (hanging.asked.length === 0) await new Promise(setImmediate);
  await hanging.session.abort();
  await prompted;
  assert.equal(hanging.session.isIdle, true);
});

test("[K1, X6] the window that counts is that of the model a request goes to, whatever the virtual one says", async (t) => {
  const { session, manager, asked, sentTo } = await routed(t, (_, registry) => to(registry, "small"), {
    compaction: { enabled: true, reserveTokens: 10_000, keepRecentTokens: 1 },
    replies: [using(45_000, say("A".repeat(100_000))), say("The summary."), say("Two.")],
  });
  await session.prompt("First");
  await session.prompt("Second");
  assert.deepEqual(
    asked.map(({ reason }) => reason),
    ["user", "user", "direct"],
  );
  assert.deepEqual(sentTo(), ["small", "small", "small"]);
  const [compaction] = manager.getBranch().filter(({ type }) => type === "compaction");
  assert.match((compaction as { summary?: string }).summary ?? "", /The summary\./);
  assert.deepEqual([...session.getUsage().byModel.keys()], ["lab/small"], "the summary counts under who wrote it");
  const first = manager.getEntries().find(({ type }) => type === "message")!;
  const { summaryEntry } = await session.navigateTree(first.id, { summarize: true });
  assert.ok(summaryEntry !== undefined);
  assert.deepEqual([...session.getUsage().byModel.keys()], ["lab/small"]);
});

test("[X6] a request beside the conversation is routed, too, and without state", async (t) => {
  const { registry, asked, server } = await routed(t, (_, models) => to(models, "small", { state: { n: 1 } }), {
    replies: say("A summary."),
  });
  const model = registry.find("router", "auto")!;
  const question = { messages: [{ role: "user" as const, content: "Sum up", timestamp: 1 }] };
  const answers = await Promise.all([
    registry.complete(model, question, { maxTokens: 50_000, reasoning: "high" }),
    registry.streamNatively(model, question).result(),
  ]);
  assert.deepEqual(
    answers.map(({ content, model: id }) => [textOf(content), id]),
    [
      ["A summary.", "small"],
      ["A summary.", "small"],
    ],
  );
  assert.deepEqual(
    asked.map(({ reason, thinkingLevel, state }) => [reason, thinkingLevel, state]),
    [
      ["direct", "high", undefined],
      ["direct", "off", undefined],
    ],
  );
  assert.equal(server.requests.length, 2);
});

test("[X6] virtual models are listed, hide none, go with their registration, and then who answered last is used", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const route = (): ModelRoute => to(registry, "m");
  registry.register("lab", { baseUrl: "http://127.0.0.1:1", api: "openai-completions", models: [{ id: "m" }] });
  const names = (): string[] => registry.available().map(({ provider, id }) => `${provider}/${id}`);
  assert.throws(() => registry.registerVirtual({ provider: "lab", id: "m", route }), /lab\/m is a model already/);
  assert.throws(() => registry.registerVirtual({ provider: "lab", id: "", route }), /must have a id/);
  assert.throws(() => registry.registerVirtual({ provider: "lab", id: "x" } as never), /must have a function route/);
  const removals = [
    registry.registerVirtual({ provider: "lab", id: "auto", route }),
    registry.registerVirtual({ provider: "router", id: "auto", route }),
  ];
  assert.deepEqual(names(), ["lab/m", "lab/auto", "router/auto"]);
  for (const remove of removals) remove();
  assert.deepEqual([names(), registry.keyProblem("router")], [["lab/m"], 'No provider named "router" is configured.']);

  const {
    session,
    manager,
    registry: models,
  } = await routed(t, (_, known) => to(known, "small"), { replies: say("ok") });
  await session.prompt("Go");
  await session.dispose();
  assert.deepEqual(manager.getContextState().model, { provider: "lab", modelId: "small" });
  assert.equal(models.find("lab", "small")?.id, "small");
});
