/**
 * A program that sends one prompt and says on stdout what its screen would have acknowledged, a line each. To be killed.
 * Arguments: base URL, working directory, session directory.
 */
import { writeSync } from "node:fs";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { registryFor, tool } from "./agent-harness.ts";

/** What the user has seen once this event was told; undefined for events that show nothing lasting. */
function acknowledged(event: AgentSessionEvent): string | undefined {
  if (event.type === "message_start" && event.message.role === "user") return "prompt";
  if (event.type === "tool_execution_end") return `result ${event.toolCallId}`;
  if (event.type === "message_end" && event.message.role === "assistant") return `answer ${event.message.stopReason}`;
  return undefined;
}

const [baseUrl = "", cwd = "", sessionDir = ""] = process.argv.slice(2);
const { registry, model } = await registryFor({ baseUrl, model: "mock" });
const sessionManager = SessionManager.create(cwd, sessionDir);
const session = new AgentSession({
  sessionManager,
  registry,
  model,
  tools: () => [tool("echo", ({ text }) => String(text))],
});
session.subscribe((event) => {
  const line = acknowledged(event);
  if (line !== undefined) writeSync(1, `${line}\n`);
});
await session.prompt("Go");
writeSync(1, "settled\n");
// Stays until it is killed.
setInterval(() => undefined, 1_000);
