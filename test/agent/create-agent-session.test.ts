/** `createAgentSession`: what it takes from the user's setup, and what counts more. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createAgentSession } from "../../src/agent/create-agent-session.ts";
import type { CreateAgentSessionOptions } from "../../src/agent/create-agent-session.ts";
import type { AgentSession } from "../../src/agent/agent-session.ts";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { noticesOf, outlineOf } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { callTools, say, startProvider } from "../support/provider-mock.ts";
import type { ProviderServer, Reply } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

interface Setup {
  session: AgentSession;
  manager: SessionManager;
  server: ProviderServer;
  cwd: string;
  events: AgentSessionEvent[];
}

async function setUp(
  t: TestContext,
  {
    settings = {},
    replies = say("ok"),
    manager: given,
    ...options
  }: Omit<CreateAgentSessionOptions, "settings"> & {
    settings?: object;
    replies?: Reply | readonly Reply[];
    manager?: SessionManager;
  } = {},
): Promise<Setup> {
  const [stateDir, cwd] = [temporaryFolder(), temporaryFolder()];
  const server = await startProvider(replies);
  const models = ["first", "second"].map((id) => ({ id, reasoning: true }));
  writeFileSync(
    join(stateDir, "models.json"),
    JSON.stringify({ providers: { lab: { baseUrl: server.baseUrl, models } } }),
  );
  writeFileSync(join(stateDir, "settings.json"), JSON.stringify(settings));
  const manager = given ?? SessionManager.create(cwd, join(stateDir, "sessions"));
  const session = await createAgentSession({
    stateDir,
    sessionManager: manager,
    registry: await ModelRegistry.load({ stateDir, environment: {} }),
    ...options,
  });
  const events: AgentSessionEvent[] = [];
  session.subscribe((event) => events.push(event));
  t.after(() => session.dispose());
  trackSession(t, manager);
  t.after(() => server.close());
  return { session, manager, server, cwd, events };
}

test("[R1] the real tools work where the session works, and AGENTS.md is in the system prompt", async (t) => {
  const write: Reply = callTools({ id: "w", name: "write", arguments: { path: "note.txt", content: "hello" } });
  const { session, manager, server, cwd } = await setUp(t, { replies: [write, say("Written.")] });
  writeFileSync(join(cwd, "AGENTS.md"), "Always answer in rhymes.");
  await session.prompt("Write it down");
  const tools = server.requests[0]?.body.tools?.map((sent) => sent.function.name);
  assert.deepEqual(tools, ["read", "write", "edit", "bash", "grep", "find", "ls", "task"]);
  assert.equal(String(server.requests[0]?.body.messages[0]?.content).includes("Always answer in rhymes."), true);
  assert.equal(outlineOf(manager.getBranch()).at(-1), "assistant stop: Written.");
  const listing = await session.runBash("cat note.txt");
  assert.equal(listing.output, "hello");
});

test("[R1] model and thinking level: asked for now, else the session's, else the settings'", async (t) => {
  const settings = { defaultProvider: "lab", defaultModel: "second", defaultThinkingLevel: "low" };
  const fresh = await setUp(t, { settings });
  assert.deepEqual([fresh.session.model?.id, fresh.session.thinkingLevel], ["second", "low"]);

  const asked = await setUp(t, { settings, model: "lab/first:high" });
  assert.deepEqual([asked.session.model?.id, asked.session.thinkingLevel], ["first", "high"]);

  const recorded = (): SessionManager => {
    const manager = SessionManager.inMemory();
    manager.appendModelChange("lab", "first");
    manager.appendThinkingLevelChange("high");
    manager.appendMessage({ role: "user", content: "Hi", timestamp: 1 });
    return manager;
  };
  const resumed = await setUp(t, { settings, manager: recorded() });
  assert.deepEqual([resumed.session.model?.id, resumed.session.thinkingLevel], ["first", "high"]);
  assert.equal(resumed.manager.getEntries().length, 3);

  const changed = await setUp(t, { settings, manager: recorded(), model: "second", thinkingLevel: "off" });
  assert.deepEqual([changed.session.model?.id, changed.session.thinkingLevel], ["second", "off"]);
  assert.deepEqual(outlineOf(changed.manager.getEntries()).slice(3), ["model_change", "thinking_level_change"]);
});

test("[R1] a model that fits none is refused in one sentence", async () => {
  await assert.rejects(
    createAgentSession({
      stateDir: temporaryFolder(),
      sessionManager: SessionManager.inMemory(),
      registry: await ModelRegistry.load({ environment: { OPENAI_API_KEY: "k" } }),
      model: "anthropic/claude-sonnet-5-5",
    }),
    { message: "There is no key for Anthropic; set ANTHROPIC_API_KEY and start bough again." },
  );
});

test("[U4] what is wrong in the settings is told to the first listener", async (t) => {
  const { events } = await setUp(t, { settings: { smallModel: "nothing", steeringMode: "sometimes" } });
  const told = noticesOf(events);
  assert.equal(told.length, 2);
  assert.equal(told[0], 'warning: No model is named "nothing"; /model lists those you can use.');
  assert.match(
    told[1]!,
    /^warning: .*settings\.json:1: "steeringMode" must be one of one-at-a-time, all; it is ignored\.$/,
  );
});

test("[U4] with nothing configured a server on loopback is found and used", async (t) => {
  const server = await startProvider(say("from the local server"));
  t.after(() => server.close());
  const port = Number(new URL(server.baseUrl).port);
  const registry = await ModelRegistry.load({
    environment: {},
    loopbackServers: [{ id: "ollama", name: "Ollama", port }],
  });
  const manager = SessionManager.inMemory();
  const session = await createAgentSession({
    stateDir: temporaryFolder(),
    sessionManager: manager,
    registry,
    tools: () => [],
  });
  await session.prompt("Hi");
  assert.equal(outlineOf(manager.getBranch()).at(-1), "assistant stop: from the local server");
  await session.dispose();
});
