/**
 * Results of the `task` tool, whose work another agent has done in a session of its own.
 * Part of `tree/`: pure. Used by the tool that writes them, the screen and whoever adds up what sessions cost.
 *
 * Such a result carries what the other agent used (`usage`), so that its session alone tells what all of its work cost.
 * Whoever reads several sessions finds the same answers once more in the other agent's file, with the names of their
 * models: there the result's usage is left out if the session it names is among those that are read.
 */
import type { SessionEntry } from "./entries.ts";
import { isRecord } from "./json.ts";

export const TASK_TOOL = "task";

/** The details of a result of bough's `task` tool. */
export interface TaskDetails {
  description: string;
  /** Id of the other agent's session. */
  sessionId: string;
  /** Its file; undefined when both sessions are in memory. */
  session?: string;
}

/** The id of the session in which the work behind a tool's result was done; undefined for every other entry. */
export function taskSessionOf(entry: SessionEntry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.toolName !== TASK_TOOL) return;
  const details: unknown = entry.message.details;
  const id = isRecord(details) ? details["sessionId"] : undefined;
  return typeof id === "string" ? id : undefined;
}
