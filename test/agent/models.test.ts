/** Which models there are, and which one a person means. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { readJson } from "../../src/agent/json-source.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import type { ModelChoice } from "../../src/agent/models.ts";
import { BUILT_IN_PROVIDERS } from "../../src/agent/providers.ts";
import type { Model } from "../../src/agent/providers.ts";
import { say, startProvider } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const nameOf = (model: Model | undefined): string | undefined => model && `${model.provider}/${model.id}`;
const chosen = (choice: ModelChoice): string =>
  "problem" in choice ? choice.problem : [nameOf(choice.model), choice.thinkingLevel].filter(Boolean).join(" ");

/** A registry of own providers; each is given as the ids of its models. */
async function registryOf(
  providers: Record<string, string[]>,
  environment: Record<string, string> = {},
): Promise<ModelRegistry> {
  const stateDir = temporaryFolder();
  const entries = Object.entries(providers).map(([id, models]) => [
    id,
    { baseUrl: "http://127.0.0.1:1/v1", models: models.map((model) => ({ id: model })) },
  ]);
  writeFileSync(join(stateDir, "models.json"), JSON.stringify({ providers: Object.fromEntries(entries) }));
  return ModelRegistry.load({ stateDir, environment });
}

test("[U4] every built-in provider becomes usable by its key alone and has the model it is said to have", async () => {
  const environment = Object.fromEntries(BUILT_IN_PROVIDERS.map(({ keyVariables }) => [keyVariables.at(-1), "key"]));
  const registry = await ModelRegistry.load({ environment });
  const missing = BUILT_IN_PROVIDERS.filter(({ id, defaultModel }) => registry.find(id, defaultModel) === undefined);
  assert.deepEqual(
    missing.map(({ id, defaultModel }) => `${id}/${defaultModel}`),
    [],
  );
  assert.deepEqual(
    BUILT_IN_PROVIDERS.map(({ id }) => registry.keyProblem(id)).filter((problem) => problem !== undefined),
    [],
  );
  assert.equal(nameOf(registry.defaultModel()), "anthropic/claude-sonnet-5-5");
});

test("[U4] only providers with a key are offered; without one a sentence names the variable", async () => {
  const registry = await ModelRegistry.load({ environment: { DEEPSEEK_API_KEY: "key", OPENAI_API_KEY: " " } });
  assert.deepEqual(new Set(registry.available().map(({ provider }) => provider)), new Set(["deepseek"]));
  assert.equal(nameOf(registry.defaultModel()), "deepseek/deepseek-v4-pro");
  const problem = "There is no key for OpenAI; set OPENAI_API_KEY and start bough again.";
  assert.equal(chosen(registry.choose("openai/gpt-6.2-sol")), problem);
  assert.equal(chosen(registry.choose("openai")), problem);
  assert.equal(registry.keyProblem("openai"), problem);
  assert.equal(registry.keyProblem("nobody"), 'No provider named "nobody" is configured.');
});

test("[U4] without any model the way to one is told", async () => {
  const registry = await ModelRegistry.load({ environment: {} });
  assert.equal(registry.defaultModel(), undefined);
  assert.equal(
    chosen(registry.choose("something")),
    "No model is connected; set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, or start a local server, or give --base-url and --model.",
  );
});

test("[U4] a model is chosen by full name, id, beginning or provider, with a thinking level behind a colon", async () => {
  const registry = await registryOf({
    lab: ["big-1", "big-2", "qwen3:8b", "shared", "team/model"],
    home: ["small", "shared"],
  });
  const answers = (...wanted: string[]): string[] => wanted.map((text) => chosen(registry.choose(text)));
  assert.deepEqual(answers("lab/big-1", "small", " small ", "BIG-2", "lab/q", "qwen3:8b", "team/model"), [
    "lab/big-1",
    "home/small",
    "home/small",
    "lab/big-2",
    "lab/qwen3:8b",
    "lab/qwen3:8b",
    "lab/team/model",
  ]);
  assert.deepEqual(answers("home", "lab/shared", "small:high", "qwen3:8b:off", "qwen3:low"), [
    "home/small",
    "lab/shared",
    "home/small high",
    "lab/qwen3:8b off",
    "lab/qwen3:8b low",
  ]);
  assert.deepEqual(answers("big", "shared", "nothing", "", "small:loud"), [
    '"big" fits several models: lab/big-1, lab/big-2.',
    '"shared" fits several models: lab/shared, home/shared.',
    'No model is named "nothing"; /model lists those you can use.',
    'No model is named ""; /model lists those you can use.',
    'No model is named "small:loud"; /model lists those you can use.',
  ]);
});

test("[U4] models.json: own providers with their defaults, keys from the file or the environment", async () => {
  const stateDir = temporaryFolder();
  const path = join(stateDir, "models.json");
  const file = {
    providers: {
      plain: {
        baseUrl: "http://127.0.0.1:1/v1",
        models: [{ id: "m" }, { id: "tiny", contextWindow: 2048, maxTokens: 9000 }],
      },
      keyed: {
        name: "Keyed",
        baseUrl: "https://keyed.example/v1",
        api: "anthropic-messages",
        apiKeyEnv: "KEYED_KEY",
        models: [{ id: "k", reasoning: true, input: ["text", "image"], cost: { input: 1, output: 2 } }],
      },
    },
  };
  writeFileSync(path, JSON.stringify(file));
  const without = await ModelRegistry.load({ stateDir, environment: {} });
  assert.deepEqual(without.problems, []);
  assert.deepEqual(without.available().map(nameOf), ["plain/m", "plain/tiny"]);
  assert.equal(without.keyProblem("keyed"), "There is no key for Keyed; set KEYED_KEY and start bough again.");
  assert.equal(chosen(without.choose("keyed/k")), "There is no key for Keyed; set KEYED_KEY and start bough again.");
  assert.deepEqual(without.find("plain", "m"), {
    id: "m",
    name: "m",
    api: "openai-completions",
    provider: "plain",
    baseUrl: "http://127.0.0.1:1/v1",
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    reasoning: false,
    contextWindow: 128_000,
    maxTokens: 16_384,
  });
  const tiny = without.find("plain", "tiny");
  assert.deepEqual([tiny?.contextWindow, tiny?.maxTokens], [8192, 8192]);

  const withKey = await ModelRegistry.load({ stateDir, environment: { KEYED_KEY: "k" } });
  assert.equal(withKey.keyProblem("keyed"), undefined);
  const keyed = withKey.find("keyed", "k");
  assert.deepEqual(
    [keyed?.api, keyed?.reasoning, keyed?.input, keyed?.cost],
    ["anthropic-messages", true, ["text", "image"], { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 }],
  );
});

for (const [what, text, problem, left] of [
  [
    "no JSON",
    '{\n  "providers": {\n    oops\n}',
    "line 3 is not JSON; your own models are left out until it is corrected.",
    [],
  ],
  ["no object", "[]", "line 1: the file is wrong (expected object, got array), so it is left out.", []],
  [
    "a wrong value",
    '{"providers": {\n "bad": {\n  "baseUrl": "ftp://x",\n  "models": [{"id": "m"}]},\n "good": {"baseUrl": "http://x/v1", "models": [{"id": "m"}]}}}',
    "line 3: providers.bad.baseUrl is wrong (ftp://x does not begin with http:// or https://), so it is left out.",
    ["good/m"],
  ],
  [
    "a wrong protocol",
    '{"providers": {"bad": {"baseUrl": "http://x",\n "api": "smoke-signals",\n "models": [{"id": "m"}]}}}',
    undefined,
    [],
  ],
] as const)
  test(`[U4] models.json with ${what} is told with its line, and costs no more than what is wrong`, async () => {
    const stateDir = temporaryFolder();
    const path = join(stateDir, "models.json");
    writeFileSync(path, text);
    const registry = await ModelRegistry.load({ stateDir, environment: {} });
    assert.equal(registry.problems.length, 1);
    if (problem === undefined) assert.match(registry.problems[0]!, /line 2: providers\.bad\.api /);
    else assert.deepEqual(registry.problems, [`${path} ${problem}`]);
    assert.deepEqual(registry.available().map(nameOf), left);
  });

test("[F5] a provider named like a prototype's member is one like any other", async () => {
  const stateDir = temporaryFolder();
  writeFileSync(
    join(stateDir, "models.json"),
    '{"providers": {"__proto__": {"baseUrl": "http://x/v1", "models": [{"id": "m"}]}}}',
  );
  const registry = await ModelRegistry.load({ stateDir, environment: {} });
  assert.equal(nameOf(registry.find("__proto__", "m")), "__proto__/m");
});

test("[U4] lines of hand-written JSON: of each value, and of the first mistake", () => {
  const reading = readJson('\uFEFF{\n "a": [1,\n  {"b/c": null}],\n "d": ""\n}');
  assert.ok(reading.ok);
  assert.deepEqual(
    ["", "/a", "/a/0", "/a/1", "/a/1/b~1c", "/d", "/a/1/none", "/none"].map((pointer) => reading.lineOf(pointer)),
    [1, 2, 2, 3, 3, 4, 3, 1],
  );
  const mistakes = ['{\n"a" 1}', "{\n\n,}", '["a",\n]', '{"a":1}\n}', "[\n1\n", '["a\nb"]', "", "nul", '{"a":\n01}'];
  assert.deepEqual(
    mistakes.map((text) => {
      const mistake = readJson(text);
      return mistake.ok ? "ok" : mistake.line;
    }),
    [2, 3, 2, 2, 3, 1, 1, 1, 2],
  );
});

/** A server that answers every GET the same way. */
async function serve(
  t: TestContext,
  answer: (server: Server) => { type: string; body: string } | undefined,
): Promise<number> {
  const server = createServer((_request, response) => {
    const content = answer(server);
    if (content === undefined) return;
    response.writeHead(200, { "content-type": content.type });
    response.end(content.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("[U4] servers on loopback are found by their list of models; other programs on the same ports are not", async (t) => {
  const list = (data: unknown): { type: string; body: string } => ({
    type: "application/json",
    body: JSON.stringify({ data }),
  });
  const ports = {
    ollama: await serve(t, () => list([{ id: "llama" }, { id: "nomic-embed-text" }, { id: 7 }, null])),
    llama: await serve(t, () => list([{ id: "model.gguf", meta: { n_ctx: 65_536, n_ctx_train: 131_072 } }])),
    page: await serve(t, () => ({ type: "text/html", body: "<html>" })),
    other: await serve(t, () => ({ type: "application/json", body: '{"data":{"id":"x"}}' })),
    silent: await serve(t, () => undefined),
  };
  const loopbackServers = Object.entries(ports).map(([id, port]) => ({ id, name: id, port }));
  const registry = await ModelRegistry.load({
    environment: {},
    loopbackServers: [...loopbackServers, { id: "closed", name: "", port: 1 }],
  });
  const found = await registry.discover();
  assert.deepEqual(
    found.map((model) => [nameOf(model), model.contextWindow, model.baseUrl]),
    [
      ["ollama/llama", 32_768, `http://127.0.0.1:${ports.ollama}/v1`],
      ["llama/model.gguf", 65_536, `http://127.0.0.1:${ports.llama}/v1`],
    ],
  );
  assert.deepEqual(registry.available().map(nameOf), ["ollama/llama", "llama/model.gguf"]);
  assert.equal(nameOf(registry.defaultModel()), "ollama/llama");
});

test("[R1] an endpoint from flags; without a model the first one the server lists", async (t) => {
  const server = await startProvider(say("ok"));
  t.after(() => server.close());
  const registry = await ModelRegistry.load({ environment: {} });
  const nameAdded = async (endpoint: Parameters<ModelRegistry["addEndpoint"]>[0]): Promise<string | undefined> => {
    const added = await registry.addEndpoint(endpoint);
    return "problem" in added
      ? added.problem
      : `${nameOf(added.model)} ${added.model.api} ${added.model.contextWindow}`;
  };
  assert.equal(await nameAdded({ baseUrl: server.baseUrl }), "endpoint/mock openai-completions 128000");
  assert.equal(
    await nameAdded({ baseUrl: "http://127.0.0.1:1/v1", model: "m", api: "anthropic-messages", contextWindow: 9000 }),
    "endpoint/m anthropic-messages 9000",
  );
  assert.equal(
    await nameAdded({ baseUrl: "http://127.0.0.1:1/v1" }),
    "http://127.0.0.1:1/v1 lists no models; name one with --model.",
  );
  assert.equal(
    await nameAdded({ baseUrl: "127.0.0.1:1" }),
    "The base URL 127.0.0.1:1 does not begin with http:// or https://.",
  );
  assert.equal(await nameAdded({ baseUrl: "http://a b/v1" }), "The base URL http://a b/v1 is no address.");
  for (const baseUrl of ["https://me:pa55word@lab.example/v1", "https://me@lab.example/v1"])
    assert.equal(
      await nameAdded({ baseUrl, model: "m" }),
      "The base URL https://…@lab.example/v1 holds a user name or a password; give the key apart.",
    );
});

test("[R1] requests carry bough's name and the key that was given", async (t) => {
  const server = await startProvider(say("ok"));
  t.after(() => server.close());
  const registry = await ModelRegistry.load({ environment: {}, version: "1.2.3" });
  const added = await registry.addEndpoint({ baseUrl: server.baseUrl, model: "mock", apiKey: "secret" });
  assert.ok("model" in added);
  const answer = await registry.complete(added.model, { messages: [{ role: "user", content: "Hi", timestamp: 1 }] });
  assert.equal(answer.stopReason, "stop");
  const { headers } = server.requests[0]!;
  assert.deepEqual([headers["user-agent"], headers["authorization"]], ["bough/1.2.3", "Bearer secret"]);
});

test("[A9] models.json read anew: what is new can be used, what is gone is not, and a built-in one it hid is back", async () => {
  const stateDir = temporaryFolder();
  const write = (providers: object): void =>
    writeFileSync(join(stateDir, "models.json"), JSON.stringify({ providers }));
  const at = (models: string[]): object => ({ baseUrl: "http://127.0.0.1:1/v1", models: models.map((id) => ({ id })) });
  write({ lab: at(["one"]), deepseek: at(["mine"]), later: { ...at(["x"]), apiKeyEnv: "NOT_SET" } });
  const registry = await ModelRegistry.load({ stateDir, environment: { DEEPSEEK_API_KEY: "key" } });
  assert.deepEqual(new Set(registry.available().map(nameOf)), new Set(["deepseek/mine", "lab/one"]));
  write({ lab: at(["one", "two"]), "": {}, later: at(["x"]) });
  await registry.reread();
  assert.deepEqual(
    [nameOf(registry.find("lab", "two")), nameOf(registry.find("later", "x")), registry.find("deepseek", "mine")],
    ["lab/two", "later/x", undefined],
  );
  assert.equal(nameOf(registry.find("deepseek", "deepseek-v4-pro")), "deepseek/deepseek-v4-pro");
  assert.equal(registry.problems.length, 1);
  write({});
  await registry.reread();
  assert.deepEqual([registry.keyProblem("lab"), registry.problems], ['No provider named "lab" is configured.', []]);
});
