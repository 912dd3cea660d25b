/**
 * A program whose agent gives a task to another one. To be killed. Arguments: base URL, working directory.
 */
import { createAgentSession } from "../../src/agent/create-agent-session.ts";
import { registryFor } from "./agent-harness.ts";

const [baseUrl = "", cwd = ""] = process.argv.slice(2);
const { registry, model } = await registryFor({ baseUrl, model: "mock" });
const session = await createAgentSession({ cwd, registry, model, mcpServers: [] });
await session.prompt("Go");
