/** The interactive mode on the process's own terminal, with a mistake in it. Run by process-guard.process.test.ts. */
import { AgentSession } from "../../src/agent/agent-session.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { runInteractive } from "../../src/tui/interactive-mode.ts";
import { loadKeybindings } from "../../src/tui/keybindings.ts";

const registry = await ModelRegistry.load({ environment: {} });
const session = new AgentSession({ sessionManager: SessionManager.inMemory(process.cwd()), registry });
const { keybindings } = loadKeybindings("/nonexistent");
setTimeout(() => {
  throw new Error("broken on purpose");
}, 300);
try {
  await runInteractive({ session, keybindings, models: registry, settings: {}, version: "0.0.0" });
} catch (error) {
  console.log(`ended with: ${(error as Error).message}`);
  process.exitCode = 3;
}
