/**
 * The task tool: another agent works on one task in a session of its own and reports back.
 * Part of `agent/`; createAgentSession adds it to the tools. The other agent's session lies beside its parent's, begins
 * with `session_init` and names its parent, so lists can hide it and what it did can be read, also after a crash. What it
 * used is the result's `usage`; task-result.ts says how that is counted.
 */
import { dirname } from "node:path";
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import { obj, arr, opt, str } from "@earendil-works/pi-schema";
import { textOf } from "../tree/content.ts";
import type { AssistantMessage, Usage } from "../tree/messages.ts";
import { TASK_TOOL, type TaskDetails } from "../tree/task-result.ts";
import { describeToolCall } from "../tree/tool-call-text.ts";
import type { UsageTotals } from "../tree/usage.ts";
import { reasonOf } from "../session/session-errors.ts";
import { SessionManager } from "../session/session-manager.ts";
import { AgentSession } from "./agent-session.ts";
import type { AgentSessionOptions } from "./agent-session-options.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import { MAX_OUTPUT_BYTES, counted, startOfLine, withNotes } from "./output-limits.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import type { RetrySettings } from "./retry.ts";

/** What the other agent has in common with the one that gives it a task. */
export interface SubagentOptions extends Pick<
  AgentSessionOptions,
  "registry" | "hooks" | "rules" | "commandOutputDir" | "goesOnUnsaved"
> {
  /** The session that gives the task; asked when the tool is called. */
  parent(): Pick<AgentSession, "sessionManager" | "model" | "thinkingLevel" | "availableTools" | "plan">;
  systemPrompt(about: { cwd: string; tools: readonly AgentTool[] }): string | Promise<string>;
  /** undefined: the parent's. */
  model(): Model | undefined;
  retry(): RetrySettings;
  thinkingLevel?: ThinkingLevel | undefined;
}

/** What the system prompt of the other agent ends with. */
export const TASK_INSTRUCTIONS =
  "You work on one task for another agent, which sees nothing of your work but your last message. Nobody can answer " +
  "questions: decide, and say what you decided. End with a report that stands alone: what you found or did, with paths " +
  "and lines, and what you could not do.";

const parameters = obj({
  description: str({ minLength: 1, description: "The task in three to seven words, for the user" }),
  prompt: str({ minLength: 1, description: "The whole task: the other agent knows nothing of this conversation" }),
  tools: opt(arr(str(), { description: "Names of the tools it may use. Default: all of yours but this one" })),
});
type Result = AgentToolResult<TaskDetails | undefined>;

/** Progress shows what the other agent did last. */
const SHOWN_STEPS = 5;

export function subagentTool(options: SubagentOptions): AgentTool<typeof parameters, TaskDetails | undefined> {
  return {
    name: TASK_TOOL,
    label: TASK_TOOL,
    description:
      "Give a task to another agent, which works on it with a context of its own and returns its report. Use it for work " +
      "that would fill your context with what you do not need later, such as searching through many files, and give " +
      "several tasks in one answer to have them done at the same time.",
    parameters,
    execute: async (_id, { description, prompt, tools: names }, signal, onUpdate) => {
      const available = (await options.parent().availableTools(signal)).filter(({ name }) => name !== TASK_TOOL);
      const missing = (names ?? []).filter((wanted) => !available.some(({ name }) => name === wanted));
      if (missing.length > 0) return refused(`There is no tool ${missing.join(", ")} for it.`);
      const tools = names === undefined ? available : available.filter(({ name }) => names.includes(name));
      const task = new Task(options, { description, prompt, tools });
      return task.run(signal, (text, details) => onUpdate?.({ content: [{ type: "text", text }], details }));
    },
  };
}

const refused = (text: string): Result => ({ content: [{ type: "text", text }], details: undefined, isError: true });

interface Assignment {
  description: string;
  prompt: string;
  tools: AgentTool[];
}

/** One task and the session in which it is done. */
class Task {
  readonly #options: SubagentOptions;
  readonly #assignment: Assignment;
  readonly #manager: SessionManager;
  readonly #steps: string[] = [];
  #answer: AssistantMessage | undefined;

  constructor(options: SubagentOptions, assignment: Assignment) {
    this.#options = options;
    this.#assignment = assignment;
    this.#manager = childOf(options.parent().sessionManager);
  }

  /** Never rejects: whatever happens to the other agent is a result. */
  async run(signal: AbortSignal | undefined, told: (text: string, details: TaskDetails) => void): Promise<Result> {
    const problems: string[] = [];
    let child: AgentSession | undefined;
    try {
      child = await this.#begin();
      const session = child;
      const stop = (): void => void session.abort();
      const unsubscribe = session.subscribe((event) => {
        if (this.#took(event)) told(this.#progress(), this.#details);
      });
      signal?.addEventListener("abort", stop, { once: true });
      try {
        if (signal?.aborted !== true) await session.prompt(this.#assignment.prompt);
      } finally {
        signal?.removeEventListener("abort", stop);
        unsubscribe();
      }
    } catch (error) {
      problems.push(reasonOf(error));
    }
    try {
      await child?.dispose();
      await this.#manager.close();
    } catch (error) {
      problems.push(reasonOf(error));
    }
    return this.#result(problems, signal?.aborted === true);
  }

  async #begin(): Promise<AgentSession> {
    const { parent, systemPrompt, model, retry, thinkingLevel, ...common } = this.#options;
    const { description, prompt, tools } = this.#assignment;
    const prompted = await systemPrompt({ cwd: this.#manager.getCwd(), tools });
    this.#manager.appendSessionInit({ systemPrompt: prompted, task: prompt, tools: tools.map(({ name }) => name) });
    this.#manager.setSessionName(description, "auto");
    const chosen = model() ?? parent().model;
    return new AgentSession({
      ...common,
      retry: retry(),
      sessionManager: this.#manager,
      ...(chosen === undefined ? {} : { model: chosen }),
      thinkingLevel: thinkingLevel ?? parent().thinkingLevel,
      tools: () => tools,
      // The user may turn plan mode on while it works.
      refusal: (name) => parent().plan.refusal(name),
      systemPrompt: () => prompted,
    });
  }

  get #details(): TaskDetails {
    const session = this.#manager.getSessionFile();
    return {
      description: this.#assignment.description,
      sessionId: this.#manager.getSessionId(),
      ...(session === undefined ? {} : { session }),
    };
  }

  /** Whether the event shows in the progress. */
  #took(event: AgentSessionEvent): boolean {
    if (event.type === "message_end" && event.message.role === "assistant") this.#answer = event.message;
    else if (event.type === "tool_execution_start")
      this.#steps.push(describeToolCall({ name: event.toolName, arguments: event.args }, undefined));
    else if (event.type === "auto_retry_start") this.#steps.push(`${event.errorMessage} (trying again)`);
    else return false;
    return true;
  }

  #progress(): string {
    const shown = this.#steps.slice(-SHOWN_STEPS);
    const before = this.#steps.length - shown.length;
    return [...(before === 0 ? [] : [`… ${counted(before, "step")} before`]), ...shown].join("\n");
  }

  #result(problems: readonly string[], isStopped: boolean): Result {
    const answer = this.#answer;
    const report = answer === undefined ? "" : textOf(answer.content);
    const shown = startOfLine(report, MAX_OUTPUT_BYTES / 3);
    const failure = isStopped ? "Stopped by the user." : (problems[0] ?? faultOf(answer));
    const notes = [
      ...(shown.length < report.length ? [cutNote(this.#details.session)] : []),
      ...(failure === undefined ? [] : [failure]),
      // The report stands, whatever came after it.
      ...problems.slice(isStopped ? 0 : 1),
    ];
    const text = withNotes(shown, notes);
    return {
      content: [{ type: "text", text: text === "" ? "(no report)" : text }],
      details: this.#details,
      usage: usageOf(this.#manager.getUsage()),
      isError: failure !== undefined,
    };
  }
}

/** A new session beside the parent's, in memory if that is. */
function childOf(parent: SessionManager): SessionManager {
  const path = parent.getSessionFile();
  if (path === undefined) return SessionManager.inMemory(parent.getCwd());
  const child = SessionManager.create(parent.getCwd(), dirname(path));
  child.newSession({ parentSession: path });
  return child;
}

function faultOf(answer: AssistantMessage | undefined): string | undefined {
  if (answer === undefined) return "It gave no answer.";
  if (answer.stopReason === "error") return answer.errorMessage ?? "Its provider failed without saying why.";
  return answer.stopReason === "length" ? "Its report was cut off at the model's limit of output." : undefined;
}

const cutNote = (session: string | undefined): string =>
  `The report was cut${session === undefined ? "" : `; all of it is in ${session}`}.`;

/** In the shape of a message's usage; of the cost only the sum is known. */
function usageOf({ input, output, cacheRead, cacheWrite, totalTokens, cost }: UsageTotals): Usage {
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost },
  };
}
