/** Providers that extensions register: they come with the extension and go with it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { ModelRegistry } from "../../src/agent/models.ts";
import type { ExtensionAPI, RequestOptions } from "../../src/extensions/api.ts";
import { extensionModels } from "../../src/extensions/extension-models.ts";
import { textOf } from "../../src/tree/content.ts";
import { extensionHost } from "../support/extension-harness.ts";
import { say, startProvider } from "../support/provider-mock.ts";

const OWN = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", models: [{ id: "m" }] };
const registering = (id: string, more = ""): string =>
  `export default (pi) => { pi.registerProvider("${id}", ${JSON.stringify({ ...OWN, models: [{ id }] })}); ${more} };`;

test("[X6] what a factory registers is there when it has returned, and gone when it failed or was reloaded", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const names = (): string[] => registry.available().map(({ id }) => id);
  const files = {
    "a.ts": registering("first"),
    "b.ts": registering("broken", 'throw new Error("no");'),
    "c.ts": registering("last", 'pi.registerProvider("last", { models: "none" });'),
  };
  const { host, path } = await extensionHost(t, { registry, files });
  assert.deepEqual(names(), ["first"]);
  assert.match(
    host.problems.join("\n"),
    /b\.ts was not loaded: no\n.*c\.ts was not loaded: The provider last cannot be/s,
  );
  writeFileSync(path("a.ts"), registering("second"));
  await host.reload();
  assert.deepEqual(names(), ["second"]);
  host.dispose();
  assert.deepEqual(names(), []);
});

test("[X6] a provider can be replaced and taken away at any time, and only by who registered it", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  const names = (): string[] => registry.available().map(({ id }) => id);
  const apis: ExtensionAPI[] = [];
  const register = (pi: ExtensionAPI): void => void apis.push(pi);
  const { host } = await extensionHost(t, { registry, inline: [register, register] });
  const [one, other] = apis as [ExtensionAPI, ExtensionAPI];
  one.registerProvider("acme", OWN);
  other.unregisterProvider("acme");
  assert.deepEqual(names(), ["m"]);
  assert.throws(() => one.registerProvider("acme", { models: [{ id: "x" }] }), /^TypeError: The provider acme cannot/);
  one.registerProvider("acme", { ...OWN, models: [{ id: "n" }, { id: "i", type: "image" }] });
  assert.deepEqual(names(), ["n"]);
  one.unregisterProvider("acme");
  one.unregisterProvider("acme");
  assert.deepEqual(names(), []);
  assert.deepEqual([...host.extensions[0]!.missingMethods], ['registerProvider for models of type "image"']);
  host.dispose();
  assert.throws(() => one.registerProvider("acme", OWN), /can no longer be used/);
});

test("[X6] ctx.modelRegistry asks in both ways, and gives the key that requests are sent with", async (t) => {
  const server = await startProvider(say("Yes."));
  t.after(() => server.close());
  const registry = await ModelRegistry.load({ environment: { ACME_KEY: "k" } });
  const config = { ...OWN, baseUrl: server.baseUrl, models: [{ id: "m", reasoning: true }] };
  registry.register("acme", { ...config, name: "Acme", apiKey: "$ACME_KEY", headers: { "x-a": "b" } });
  registry.register("locked", { ...OWN, apiKey: "$NOT_SET" });
  const models = extensionModels(registry);
  const model = models.find("acme", "m")!;
  const question = { messages: [{ role: "user" as const, content: "Well?", timestamp: 1 }] };
  for (const ask of [models.complete, models.completeSimple])
    assert.equal(textOf((await ask(model, question, { reasoningEffort: "high" } as RequestOptions)).content), "Yes.");
  assert.deepEqual(
    server.requests.map(({ body }) => body["reasoning_effort"]),
    ["high", undefined],
    "options of the provider's own are for the one that is not simple",
  );
  const locked = { ...model, provider: "locked" };
  assert.deepEqual([models.hasConfiguredAuth(model), models.hasConfiguredAuth(locked)], [true, false]);
  assert.deepEqual(await models.getApiKeyAndHeaders(model), { ok: true, apiKey: "k", headers: { "x-a": "b" } });
  assert.equal((await models.getApiKeyAndHeaders(locked)).ok, false);
  assert.deepEqual(
    [await models.getApiKey(model), await models.getApiKeyForProvider("acme"), await models.getApiKeyForProvider("no")],
    ["k", "k", undefined],
  );
  assert.equal(models.getProviderDisplayName("acme"), "Acme");
});

test("[X3, X6] a virtual model is asked with copies, the extension's context and a time limit, and goes with it", async (t) => {
  const registry = await ModelRegistry.load({ environment: {} });
  registry.register("lab", OWN);
  const message = { role: "user" as const, content: "Hi", timestamp: 1 };
  const about = { thinkingLevel: "off", reason: "user", messages: [message], state: { n: 1 } } as const;
  const seen: unknown[] = [];
  const { host } = await extensionHost(t, {
    registry,
    limits: { handlerMs: 20 },
    inline: [
      (pi) => {
        pi.registerVirtualModel<{ n: number }>({
          provider: "router",
          id: "auto",
          route: async (request, ctx) => {
            seen.push(request.model.id, ctx.modelRegistry.find("lab", "m")?.id, request.state?.n);
            (request.messages[0] as { content: string }).content = "changed";
            if (request.reason === "retry") await new Promise(() => undefined);
            return { model: ctx.modelRegistry.find("lab", "m")!, thinkingLevel: "high", state: { n: 2 } };
          },
        });
        pi.registerVirtualModel({ provider: "router", id: "gone", route: () => undefined as never });
        pi.unregisterVirtualModel("router", "gone");
      },
      (pi) => pi.registerVirtualModel({ provider: "router", id: "broken" } as never),
    ],
  });
  const auto = registry.find("router", "auto")!;
  const { model, thinkingLevel, state } = await registry.route(auto, about);
  assert.deepEqual([model.id, thinkingLevel, state, message.content], ["m", "off", { n: 2 }, "Hi"]);
  assert.deepEqual(seen, ["auto", "m", 1]);
  await assert.rejects(
    registry.route(auto, { ...about, reason: "retry" }),
    /Nothing came of "route" within 0\.02 seconds/,
  );
  assert.deepEqual([registry.find("router", "gone"), host.problems.length], [undefined, 1]);
  host.dispose();
  assert.equal(registry.find("router", "auto"), undefined);
});
