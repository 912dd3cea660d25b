/** `/plan`: turns plan mode on and off. Part of `tui/`; a row of the registry of commands. */
import type { AgentSession } from "../agent/agent-session.ts";

/** The screen the command was typed on. */
interface PlanScreen {
  readonly session: AgentSession;
  setStatus(text: string): void;
}

/** Without a prompt it goes to and fro; with one the mode is on and the prompt is sent. */
export async function planCommand(host: PlanScreen, prompt: string): Promise<void> {
  const { session } = host;
  if (session.plan.isOn && prompt === "") {
    session.plan.stop();
    host.setStatus("Plan mode is off");
    return;
  }
  session.plan.start();
  host.setStatus("Plan mode: nothing is changed until you approve a plan; /plan leaves it");
  if (prompt === "") return;
  if (session.isStreaming) session.steer(prompt);
  else await session.prompt(prompt);
}
