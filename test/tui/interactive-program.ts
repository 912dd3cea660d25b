/** The interactive mode on the process's own terminal, with a session in memory and no model. Run by suspend.process.test.ts. */
import { AgentSession } from "../../src/agent/agent-session.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { runInteractive } from "../../src/tui/interactive-mode.ts";
import { loadKeybindings } from "../../src/tui/keybindings.ts";

const registry = await ModelRegistry.load({ environment: {} });
const session = new AgentSession({ sessionManager: SessionManager.inMemory(process.cwd()), registry });
const { keybindings } = loadKeybindings("/nonexistent");
const code = await runInteractive({ session, keybindings, models: registry, settings: {}, version: "0.0.0" });
console.log(`left with ${code}`);
