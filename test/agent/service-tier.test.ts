/** Service tiers: what is sent to whom, and that the tier follows the leaf. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model } from "../../src/agent/providers.ts";
import { tiersOf, withServiceTier } from "../../src/agent/service-tier.ts";
import { startHarness } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";

const model = (provider: string, api: string): Model => ({ provider, api }) as Model;
const OPENAI = model("openai", "openai-responses");
const ANTHROPIC = model("anthropic", "anthropic-messages");

test("[P3] a provider's tiers: OpenAI's five, Anthropic's three, none of others; endpoints of the user's own speak as they do", () => {
  const openai = ["auto", "default", "flex", "scale", "priority"];
  assert.deepEqual(tiersOf(OPENAI), openai);
  assert.deepEqual(tiersOf(model("endpoint", "openai-completions")), openai);
  assert.deepEqual(tiersOf(ANTHROPIC), ["auto", "default", "priority"]);
  assert.deepEqual(tiersOf(model("mine", "anthropic-messages")), ["auto", "default", "priority"]);
  for (const other of [
    model("groq", "openai-completions"),
    model("minimax", "anthropic-messages"),
    model("google", "google-generative-ai"),
  ])
    assert.deepEqual(tiersOf(other), []);
});

test("[P3] the tier goes into the request under the provider's own name; what it does not have is not sent", () => {
  const sent = (to: Model, tiers: Record<string, string> | undefined): unknown =>
    withServiceTier({ model: "m" }, to, tiers);
  assert.deepEqual(sent(OPENAI, { openai: "flex" }), { model: "m", service_tier: "flex" });
  assert.deepEqual(sent(ANTHROPIC, { anthropic: "default" }), { model: "m", service_tier: "standard_only" });
  for (const [to, tiers] of [
    [OPENAI, undefined],
    [OPENAI, { openai: "auto" }],
    [OPENAI, { anthropic: "flex" }],
    [OPENAI, { openai: "__proto__" }],
    [ANTHROPIC, { anthropic: "flex" }],
    [ANTHROPIC, { anthropic: "priority" }],
    [model("groq", "openai-completions"), { openai: "flex" }],
  ] as const)
    assert.equal(sent(to, tiers), undefined);
  assert.equal(withServiceTier("text", OPENAI, { openai: "flex" }), undefined);
});

test("[P3, C1] the tier is recorded on the path, sent with each request, and restored by jumps and reload", async (t) => {
  const { session, manager, server } = await startHarness(t, { replies: say("Hi.") });
  await session.prompt("One");
  const before = manager.getLeafId()!;
  session.state.setServiceTier({ openai: "flex" });
  await session.prompt("Two");
  await session.navigateTree(before);
  await session.prompt("Three");
  await session.back();
  await session.switchSession(manager.getSessionFile()!);
  await session.prompt("Four");
  session.state.setServiceTier(null);
  await session.prompt("Five");
  assert.deepEqual(
    server.requests.map(({ body }) => body["service_tier"]),
    [undefined, "flex", undefined, "flex", undefined],
  );
  // Neither tier nor mode is a message.
  assert.ok(server.requests.every(({ body }) => !JSON.stringify(body.messages).includes("service_tier")));
});
