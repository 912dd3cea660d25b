/**
 * The events as extensions see them: the hooks of agent/hook-events.ts with their name in `type`, the second names that
 * some of them go by, and what one listener may answer. Part of `extensions/`; api.ts and dispatch.ts use it.
 */
import type { AgentMessage } from "../tree/messages.ts";
import type { CustomMessageDraft, HookEvent, HookName, HookResult } from "../agent/hook-port.ts";

/**
 * Second name -> hook. pi calls a branch a fork. A listener hears an event once, under the name it was registered with.
 */
export const SECOND_NAMES = {
  session_before_fork: "session_before_branch",
  session_fork: "session_branch",
} as const satisfies Record<string, HookName>;

export type SecondName = keyof typeof SECOND_NAMES;
export type EventName = HookName | SecondName;
type HookOf<N extends EventName> = N extends SecondName ? (typeof SECOND_NAMES)[N] : N;

/** What is told beyond the hook's own event. */
interface Additions {
  before_agent_start: {
    /** Texts put into `sections` stand at the end of the system prompt, for this prompt. */
    systemPromptOptions: SystemPromptOptions;
  };
}
export interface SystemPromptOptions {
  cwd: string;
  /** Names of the tools the model may call. */
  selectedTools: readonly string[];
  sections: Record<string, string | null>;
}

export type ExtensionEvent<N extends EventName = EventName> = {
  [M in EventName]: { type: M } & HookEvent<HookOf<M>> & (M extends keyof Additions ? Additions[M] : unknown);
}[N];

/** Where one listener's answer is not the hook's merged result. */
interface OwnAnswers {
  /** "undecided", or nothing: the next one decides, or the user. */
  project_trust: { trusted: "yes" | "no" | "undecided"; remember?: boolean };
  context: { messages?: AgentMessage[] };
  before_agent_start: {
    /** Behind the prompt; each listener's own. */
    message?: CustomMessageDraft;
    /** In place of the one in the event. */
    systemPrompt?: string;
  };
}
export type AnswerTo<N extends EventName> = N extends keyof OwnAnswers ? OwnAnswers[N] : HookResult<HookOf<N>>;

/** The hook a listener for `name` listens to. Names come from extensions. */
export function hookNamed(name: string, hooks: ReadonlySet<string>): HookName | undefined {
  const hook = Object.hasOwn(SECOND_NAMES, name) ? SECOND_NAMES[name as SecondName] : name;
  return hooks.has(hook) ? (hook as HookName) : undefined;
}
