/** Providers that are registered while bough runs: new ones, changes to others, and their going away. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { AssistantMessageEventStream as Stream, Context } from "@earendil-works/pi-ai";
import { knownSecrets } from "../../src/agent/known-secrets.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { AssistantMessageEventStream } from "../../src/agent/providers.ts";
import type { Model } from "../../src/agent/providers.ts";
import type { ProviderConfig, StreamSimple } from "../../src/agent/registered-providers.ts";
import { textOf } from "../../src/tree/content.ts";
import { fileLines, startHarness } from "../support/agent-harness.ts";
import { say, startProvider } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const QUESTION: Context = { messages: [{ role: "user", content: "Hello?", timestamp: 1 }] };
const OWN: ProviderConfig = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", models: [{ id: "small" }] };
const namesOf = (registry: ModelRegistry): string[] =>
  registry.available().map(({ provider, id }) => `${provider}/${id}`);

/** A stream with one finished answer. */
function answering(text: string): Stream {
  const stream = new AssistantMessageEventStream();
  const message = { content: [{ type: "text", text }], stopReason: "stop" } as never;
  stream.push({ type: "done", reason: "stop", message });
  return stream;
}

async function providerServer(t: TestContext) {
  const server = await startProvider(say("From the server."));
  t.after(() => server.close());
  return server;
}

test("[X6] a provider with models of its own is there until it is taken away, and what it hid is back", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const small = registry.register("acme", OWN);
  const { revision } = registry;
  const changed = { ...OWN, models: [{ id: "later" }] };
  const later = registry.register("acme", changed);
  Object.assign(changed, { models: "none", api: 5 });
  assert.deepEqual(namesOf(registry), ["acme/later"]);
  later();
  const big = registry.register("acme", { ...OWN, models: [{ id: "big", contextWindow: 1_000_000 }] });
  assert.deepEqual([namesOf(registry), registry.find("acme", "small")], [["acme/big"], undefined]);
  assert.ok(registry.revision > revision);
  big();
  big();
  assert.deepEqual(namesOf(registry), ["acme/small"]);
  small();
  assert.deepEqual([namesOf(registry), registry.keyProblem("acme")], [[], 'No provider named "acme" is configured.']);
});

test("[X6] its requests carry its key, its headers and those of the model, each with what the variables hold", async (t) => {
  const server = await providerServer(t);
  const registry = await ModelRegistry.load({ environment: { ACME_KEY: "k1", TEAM: "red" } });
  registry.register("acme", {
    ...OWN,
    baseUrl: server.baseUrl,
    apiKey: "$ACME_KEY",
    headers: { "x-team": "${TEAM} $$5", "x-command": "!printf 'from a command'" },
    models: [{ id: "small", headers: { "x-model": "$TEAM" } }],
  });
  const model = registry.find("acme", "small")!;
  const answer = await registry.complete(model, QUESTION);
  assert.equal(textOf(answer.content), "From the server.");
  const { headers } = server.requests[0]!;
  assert.deepEqual(
    ["authorization", "x-team", "x-command", "x-model"].map((name) => headers[name]),
    ["Bearer k1", "red $5", "from a command", "red"],
  );
  assert.deepEqual(await registry.authFor(model), {
    apiKey: "k1",
    headers: { "x-team": "red $5", "x-command": "from a command" },
  });
});

test("[X6, E3] what its requests are sent with is known, for exports to leave out", async () => {
  const registry = await ModelRegistry.load({ environment: { TEAM: "red-team-of-7" } });
  const headers = { "x-team": "$TEAM", authorization: "Bearer b1-of-the-team", accept: "text/plain" };
  registry.register("acme", { ...OWN, name: "Acme", apiKey: "!printf key-of-a-command-1", headers });
  registry.register("broken", { ...OWN, apiKey: "!exit 1" });
  await registry.addEndpoint({ baseUrl: "http://127.0.0.1:1/v1", model: "m", apiKey: "key-of-a-flag-1" });
  registry.register("keyless", OWN);
  const inUse = await registry.keysInUse();
  assert.deepEqual(
    knownSecrets({ environment: {}, stateDir: temporaryFolder(), inUse }).map(({ value, kind }) => [value, kind]),
    [
      ["key-of-a-command-1", "apiKey of Acme"],
      ["Bearer b1-of-the-team", "authorization of Acme"],
      ["b1-of-the-team", "authorization of Acme"],
      ["key-of-a-flag-1", "apiKey of 127.0.0.1:1"],
    ],
  );
});

test("[X3, X6, E3] a provider that never says its key holds up no export", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const answers = [{ auth: { apiKey: "k" } }];
  registry.registerWhole({
    id: "whole",
    name: "Whole",
    auth: { apiKey: { name: "key", resolve: async () => answers.pop() ?? new Promise(() => undefined) } },
    getModels: () => [],
    stream: () => answering("Hello"),
    streamSimple: () => answering("Hello"),
  });
  await registry.settled();
  assert.deepEqual(await registry.keysInUse(1), [{ name: "Whole" }]);
});

test("[X6] without its key it is not offered, and a sentence names the variable", async () => {
  const environment: Record<string, string> = {};
  const registry = await ModelRegistry.load({ environment });
  registry.register("acme", { ...OWN, name: "Acme", apiKey: "$ACME_KEY" });
  registry.register("sso", { ...OWN, oauth: { name: "Corporate" } });
  assert.deepEqual([namesOf(registry), registry.find("acme", "small")], [[], undefined]);
  assert.deepEqual(registry.choose("acme/small"), {
    problem: "There is no key for Acme; set ACME_KEY and start bough again.",
  });
  assert.equal(registry.keyProblem("sso"), "Corporate needs a login, and bough has none.");
  environment["ACME_KEY"] = "set later";
  assert.deepEqual(namesOf(registry), ["acme/small"]);
});

test("[X6] a change to a provider keeps its models; over a built-in one without a key it brings the key", async (t) => {
  const server = await providerServer(t);
  const stateDir = temporaryFolder();
  const lab = { baseUrl: "http://127.0.0.1:1/v1", apiKey: "old", models: [{ id: "m", contextWindow: 50_000 }] };
  writeFileSync(join(stateDir, "models.json"), JSON.stringify({ providers: { lab } }));
  const registry = await ModelRegistry.load({ stateDir, environment: {} });
  const remove = registry.register("lab", { baseUrl: server.baseUrl, headers: { "x-gateway": "yes" } });
  const model = registry.find("lab", "m")!;
  assert.equal(model.contextWindow, 50_000);
  assert.equal(textOf((await registry.complete(model, QUESTION)).content), "From the server.");
  const { headers } = server.requests[0]!;
  assert.deepEqual([headers["authorization"], headers["x-gateway"]], ["Bearer old", "yes"]);
  remove();
  assert.equal(registry.find("lab", "m")?.baseUrl, lab.baseUrl);

  registry.register("deepseek", { headers: { "x-gateway": "yes" } });
  registry.register("deepseek", { apiKey: "given" });
  await registry.settled();
  assert.ok(registry.find("deepseek", "deepseek-v4-pro") !== undefined);
  assert.equal((await registry.authFor("deepseek"))?.apiKey, "given");
});

test("[X6] its own stream function gets copies, the key, and nothing of the agent's loop", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const given: unknown[] = [];
  const streamSimple: StreamSimple = (model, context, options) => {
    given.push(options?.apiKey, typeof options?.onPayload, "getSteeringMessages" in (options ?? {}));
    (model as { id: string }).id = "changed";
    context.messages.length = 0;
    return answering(`${model.provider} says so.`);
  };
  registry.register("acme", { api: "acme-api", apiKey: "key", streamSimple, models: [{ id: "m" }] });
  const model = registry.find("acme", "m")!;
  const options = { onPayload: () => undefined, getSteeringMessages: () => [] };
  const answer = await registry.complete(model, QUESTION, options);
  assert.deepEqual([textOf(answer.content), answer.model], ["acme says so.", "m"]);
  assert.deepEqual(given, ["key", "function", false]);
  assert.deepEqual([registry.find("acme", "m")?.id, QUESTION.messages.length], ["m", 1]);
});

test("[X6] it may look for its models, and a whole provider for its key; both count when that is done", async () => {
  const registry = await ModelRegistry.load({ environment: { WHOLE_KEY: "k" } });
  registry.register("found", { ...OWN, models: [], refreshModels: async () => [{ id: "a" }, { id: "b" }] });
  registry.register("failed", { ...OWN, refreshModels: async () => Promise.reject(new Error("offline")) });
  registry.register("lied", { ...OWN, refreshModels: async () => "nothing" as never });
  registry.register("silent", { ...OWN, refreshModels: async () => undefined as never });
  registry.registerWhole({
    id: "whole",
    name: "Whole",
    auth: {
      apiKey: {
        name: "key",
        resolve: async ({ ctx }) => {
          const apiKey = await ctx.env("WHOLE_KEY");
          return apiKey === undefined ? undefined : { auth: { apiKey } };
        },
      },
    },
    getModels: () => [{ id: "w", api: "whole-api" } as Model],
    stream: () => answering("Whole."),
    streamSimple: () => answering("Whole."),
  });
  assert.equal(registry.find("whole", "w"), undefined);
  await registry.settled();
  assert.deepEqual(namesOf(registry), ["found/a", "found/b", "failed/small", "lied/small", "silent/small", "whole/w"]);
  assert.equal(textOf((await registry.complete(registry.find("whole", "w")!, QUESTION)).content), "Whole.");
});

test("[X3, X6] a stream that was left calls nothing of the next request's, and a list of models that throws is empty", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const told: unknown[] = [];
  let late: (() => unknown) | undefined;
  const streamSimple: StreamSimple = (model, _context, options) => {
    late = () => options?.onPayload?.({ late: true }, model);
    void options?.onPayload?.({ late: false }, model);
    return answering("Done.");
  };
  registry.register("acme", { api: "acme-api", streamSimple, models: [{ id: "m" }] });
  const options = { onPayload: (payload: unknown) => void told.push(payload) };
  await registry.complete(registry.find("acme", "m")!, QUESTION, options);
  await Promise.resolve();
  assert.equal(late?.(), undefined);
  assert.deepEqual(told, [{ late: false }]);
  registry.registerWhole({
    id: "whole",
    name: "Whole",
    auth: { apiKey: { name: "key", resolve: async () => ({ auth: {} }) } },
    getModels: () => {
      throw new Error("no list");
    },
    stream: () => answering(""),
    streamSimple: () => answering(""),
  });
  await registry.settled();
  assert.deepEqual([namesOf(registry), registry.defaultModel()?.id], [["acme/m"], "m"]);
});

test("[X3, X6] what is no provider is refused with the reason, and changes nothing", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const refused = (id: unknown, config: unknown): string => {
    try {
      registry.register(id as string, config as ProviderConfig);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const begin = "The provider acme cannot be registered: ";
  assert.deepEqual(
    [
      refused("", OWN),
      refused("acme", undefined),
      refused("acme", { ...OWN, apiKey: 5 }),
      refused("acme", { ...OWN, headers: { a: 1 } }),
      refused("acme", { ...OWN, models: {} }),
      refused("acme", { ...OWN, models: [{}] }),
      refused("acme", { models: [{ id: "m" }] }),
      refused("acme", { streamSimple: () => undefined }),
    ],
    [
      "A provider must have a name.",
      `${begin}there must be an object that describes it.`,
      `${begin}its "apiKey" must be a text.`,
      `${begin}its "headers" must be texts.`,
      `${begin}its "models" must be a list.`,
      `${begin}each model must have an id.`,
      `${begin}it must name an "api", such as openai-completions, for its model m.`,
      `${begin}with "streamSimple" it must name its "api".`,
    ],
  );
  assert.throws(() => registry.registerWhole({ id: "w" } as never), /must have getModels, streamSimple and auth/);
  assert.deepEqual([namesOf(registry), registry.revision], [[], 0]);
});

test("[X3, X6] an unknown protocol, and models without sense, are an error of the request and defaults", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  const odd = { id: "odd", contextWindow: "large", maxTokens: -1, cost: { input: 1 }, input: "text" } as never;
  registry.register("acme", {
    api: "made-up",
    baseUrl: "http://127.0.0.1:1",
    models: [odd, { id: "p", type: "image" }],
  });
  const model = registry.find("acme", "odd")!;
  assert.deepEqual(
    [model.contextWindow, model.maxTokens, model.cost, model.input],
    [128_000, 16_384, { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }, ["text"]],
  );
  assert.deepEqual(namesOf(registry), ["acme/odd"]);
  const odder = { id: "odder", name: 5, baseUrl: {}, contextWindow: Infinity, cost: "free", reasoning: "yes" } as never;
  registry.registerWhole({
    id: "whole",
    name: Symbol("whole") as never,
    auth: { apiKey: { name: "key", resolve: async () => ({ auth: { apiKey: "k" } }) } },
    getModels: () => [odder],
    stream: () => answering("Hello"),
    streamSimple: () => answering("Hello"),
  });
  await registry.settled();
  const { name, baseUrl, contextWindow, cost, reasoning } = registry.find("whole", "odder")!;
  assert.deepEqual(
    [registry.nameOf("whole"), name, baseUrl, contextWindow, cost, reasoning],
    ["whole", "odder", "", 128_000, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, false],
  );
  const answer = await registry.complete(model, QUESTION);
  assert.equal(answer.errorMessage, 'The provider acme speaks "made-up", which bough does not know.');
});

test("[W2, X6] through the agent: the prompt is on disk before the stream is asked, the tool's call before it runs", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const onDisk: string[][] = [];
  const seen = (): void =>
    void onDisk.push(fileLines(harness.manager).flatMap(({ message }) => (message as { role?: string })?.role ?? []));
  const call = { type: "toolCall", id: "c1", name: "look", arguments: {} };
  const streamSimple: StreamSimple = async function* () {
    seen();
    const content = onDisk.length === 1 ? [call] : [{ type: "text", text: "Done." }];
    yield { type: "done", reason: "stop", message: { content, stopReason: "toolUse" } };
  };
  registry.register("acme", { api: "acme-api", streamSimple, models: [{ id: "m" }] });
  const look = async () => {
    seen();
    return { content: [{ type: "text" as const, text: "seen" }], details: undefined };
  };
  const tool = { name: "look", label: "look", description: "", parameters: { type: "object" } as never, execute: look };
  const harness = await startHarness(t, { registry, tools: () => [tool] });
  harness.session.setModel(registry.find("acme", "m")!);
  await harness.session.prompt("Go on");
  assert.deepEqual(onDisk, [["user"], ["user", "assistant"], ["user", "assistant", "toolResult"]]);
  const last = harness.session.messages.at(-1);
  assert.deepEqual([last?.role, last && "content" in last ? textOf(last.content) : ""], ["assistant", "Done."]);
  assert.equal(harness.server.requests.length, 0);
});

test("[X6] the model in use is the registered one as it is now, and none when it was taken away", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const one = registry.register("acme", OWN);
  const { session } = await startHarness(t, { registry });
  session.setModel(registry.find("acme", "small")!);
  one();
  await assert.rejects(session.prompt("Hello"), /^Error: No provider named "acme" is configured\.$/);
  const two = registry.register("acme", { ...OWN, models: [{ id: "small", contextWindow: 999_999 }] });
  assert.equal(session.model?.contextWindow, 999_999);
  two();
});

test("[X6, W2] a provider that goes away while a turn runs ends it with an answer that says so", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const call = { type: "toolCall", id: "c1", name: "look", arguments: {} };
  const streamSimple: StreamSimple = async function* () {
    yield { type: "done", reason: "stop", message: { content: [call], stopReason: "toolUse" } };
  };
  const remove = registry.register("acme", { api: "acme-api", streamSimple, models: [{ id: "m" }] });
  const look = async () => {
    remove();
    return { content: [{ type: "text" as const, text: "seen" }], details: undefined };
  };
  const tool = { name: "look", label: "look", description: "", parameters: { type: "object" } as never, execute: look };
  const { session } = await startHarness(t, { registry, tools: () => [tool] });
  session.setModel(registry.find("acme", "m")!);
  await session.prompt("Go on");
  const last = session.messages.at(-1);
  assert.deepEqual(
    session.messages.map(({ role }) => role),
    ["user", "assistant", "toolResult", "assistant"],
  );
  assert.ok(last?.role === "assistant");
  assert.deepEqual(
    [last.provider, last.model, last.stopReason, last.errorMessage],
    ["acme", "m", "error", 'No provider named "acme" is configured.'],
  );
});
