/**
 * What the hooks make of what the user does: a prompt, and a shell command.
 * Part of `agent/`; AgentSession asks before it does anything.
 */
import { isRecord } from "../tree/json.ts";
import type { BashExecutionMessage } from "../tree/messages.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { BashOperations, HookEvent, InputSource } from "./hook-port.ts";
import type { QueuedKind } from "./message-queue.ts";
import { isContent } from "./prompt-entries.ts";
import type { Prompt } from "./prompt-entries.ts";
import type { SessionHooks } from "./session-hooks.ts";
import * as notices from "./session-notices.ts";
import { runUserCommand } from "./user-command.ts";
import type { UserCommandOptions } from "./user-command.ts";

/** What becomes of a prompt; undefined: a hook has dealt with it. */
export async function askInput(
  hooks: SessionHooks,
  prompt: Prompt,
  source: InputSource,
  queuedAs: QueuedKind | undefined,
): Promise<Prompt | undefined> {
  if (!hooks.has("input")) return prompt;
  const queued = queuedAs === undefined ? {} : { streamingBehavior: queuedAs };
  const answer: unknown = await hooks.emit("input", { ...prompt, source, ...queued });
  if (!isRecord(answer) || answer["action"] === "continue") return prompt;
  if (answer["action"] === "handled") return undefined;
  const { action, text, images } = answer;
  const isSound =
    action === "transform" &&
    typeof text === "string" &&
    (images === undefined ||
      (Array.isArray(images) && isContent(images) && images.every(({ type }) => type === "image")));
  if (!isSound) return hooks.refused("input", "makes no sense") ?? prompt;
  return { ...prompt, text, ...(images === undefined ? {} : { images: images as NonNullable<Prompt["images"]> }) };
}

/** Runs a command of the user, unless a hook has; what a hook cannot decide is not run. */
export async function runAsked(
  hooks: SessionHooks,
  command: string,
  options: UserCommandOptions,
): Promise<BashExecutionMessage> {
  if (!hooks.has("user_bash")) return runUserCommand(command, options);
  const { cwd, excludeFromContext = false } = options;
  const answer = await askCommand(hooks, { command, cwd, excludeFromContext });
  if (answer === undefined) return runUserCommand(command, options);
  if (isRecord(answer["result"])) return resultMessage(command, answer["result"], excludeFromContext);
  const { operations } = answer;
  if (isRecord(operations) && typeof operations["exec"] === "function")
    return runUserCommand(command, options, operations as unknown as BashOperations);
  throw new Error(notices.hookRefused("user_bash", "has neither a result nor operations"));
}

async function askCommand(
  hooks: SessionHooks,
  event: HookEvent<"user_bash">,
): Promise<Record<string, unknown> | undefined> {
  let answer: unknown;
  try {
    answer = await hooks.emitStrictly("user_bash", event);
  } catch (error) {
    throw new Error(notices.commandBlocked(reasonOf(error)), { cause: error });
  }
  return isRecord(answer) ? answer : undefined;
}

function resultMessage(
  command: string,
  { output, exitCode, cancelled, truncated, fullOutputPath }: Record<string, unknown>,
  excludeFromContext: boolean,
): BashExecutionMessage {
  return {
    role: "bashExecution",
    command,
    output: typeof output === "string" ? output : "",
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    cancelled: cancelled === true,
    truncated: truncated === true,
    ...(typeof fullOutputPath === "string" ? { fullOutputPath } : {}),
    ...(excludeFromContext ? { excludeFromContext } : {}),
    timestamp: Date.now(),
  };
}
