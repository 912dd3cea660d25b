/** The three protocols bough is used with most, through pi-ai's real clients against aimock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import type { ApiKind } from "../../src/agent/providers.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf, registryFor, tool } from "../support/agent-harness.ts";
import { trackSession } from "../support/laws.ts";
import { startAimock } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const PROTOCOLS: readonly ApiKind[] = ["openai-completions", "openai-responses", "anthropic-messages"];

for (const api of PROTOCOLS)
  test(`[R1, N1] ${api}: prompt, tool call, answer; a jump back and another answer; model and usage are recorded`, async (t) => {
    const mock = await startAimock();
    mock.on(
      { userMessage: "Look", hasToolResult: false },
      { toolCalls: [{ name: "echo", arguments: '{"text":"x"}', id: "call_1" }] },
    );
    mock.on({ userMessage: "Look", hasToolResult: true }, { content: "It says x." });
    mock.on({ userMessage: "Elsewhere" }, { content: "Another answer." });
    const { registry, model } = await registryFor({
      baseUrl: `${mock.url}/v1`,
      model: "mock-model",
      apiKey: "key",
      api,
    });
    const dir = temporaryFolder();
    const manager = SessionManager.create(dir, dir);
    const session = new AgentSession({
      sessionManager: manager,
      registry,
      model,
      tools: () => [tool("echo", ({ text }) => `echo ${String(text)}`)],
      systemPrompt: () => "Be brief.",
    });
    t.after(() => session.dispose());
    trackSession(t, manager);
    t.after(() => mock.stop());

    await session.prompt("Look");
    const branch = outlineOf(manager.getBranch())
      .slice(1)
      .filter((text) => text !== "session_info");
    assert.deepEqual(
      branch.map((text) => text.replace(/^result \S+:/, "result:")),
      ["user: Look", "assistant toolUse: [echo]", "result: echo x", "assistant stop: It says x."],
    );
    const answer = manager.getLeafEntry();
    assert.ok(answer?.type === "message" && answer.message.role === "assistant");
    assert.deepEqual(
      [answer.message.api, answer.message.provider, answer.message.model],
      [api, "endpoint", "mock-model"],
    );

    const [prompt] = session.getUserMessages();
    await session.navigateTree(prompt!.entryId);
    await session.prompt("Elsewhere");
    assert.deepEqual(outlineOf(manager.getBranch()).slice(1), ["user: Elsewhere", "assistant stop: Another answer."]);
    assert.equal(session.getUserMessages().length, 2);
  });
