/**
 * How the answers of several listeners to one event become the one that bough acts on. The table has a rule for every
 * hook, which the compiler checks. Part of `extensions/`; dispatch.ts uses it.
 */
import type {
  CustomMessageDraft,
  HookEvent,
  HookEvents,
  HookName,
  HookResult,
  UserBashResult,
} from "../agent/hook-port.ts";
import type { AgentMessage, ImageContent } from "../tree/messages.ts";
import { isRecord } from "../tree/json.ts";
import { copyEach, copyOf, lazyCopy } from "./copy-of.ts";
import * as notices from "./extension-notices.ts";

/** One event on its way through its listeners. */
interface Round<N extends HookName> {
  /** What the next listener is told: its own to change. */
  told(): object;
  /** Takes in what a listener has answered and made of what it was told; true ends the round. */
  take(answer: Record<string, unknown> | undefined, told: Record<string, unknown>): boolean | void;
  result(): HookResult<N> | undefined;
}

interface Rule<N extends HookName> {
  begin(event: HookEvent<N>): Round<N>;
  /** What a listener's failure means. Default: as if it had not been there. */
  failed?: (extensionPath: string, reason: string) => HookResult<N>;
  /** Nobody waits for another: all are told at once, with the short limit. */
  together?: true;
}

/** Whose listeners only listen. */
type Told = { [N in HookName]: HookEvents[N]["result"] extends void ? N : never }[HookName];

/** Only told. What is large or comes often is copied as far as somebody reads it. */
const tells = <N extends Told>(copy: <E extends object>(event: E) => E = copyEach): Rule<N> => ({
  begin: (event) => ({ told: () => copy(event), take: () => undefined, result: () => undefined }),
});

/** The last answer counts; one that cancels is the last. */
const decides = <
  N extends
    | "session_before_switch"
    | "session_before_branch"
    | "session_before_tree"
    | "session_before_compact"
    | "session.compacting",
>(): Rule<N> => ({
  begin: (event) => {
    let result: HookResult<N> | undefined;
    return {
      told: () => lazyCopy(event),
      take: (answer) => {
        if (answer !== undefined) result = answer as HookResult<N>;
        return answer?.["cancel"] === true;
      },
      result: () => result,
    };
  },
});

const context: Rule<"context"> = {
  begin: (event) => {
    let messages = event.messages;
    return {
      told: () => ({ messages: copyOf(messages) }),
      take: (answer, told) => {
        const given = answer?.["messages"] ?? told["messages"];
        if (!Array.isArray(given) || !given.every(isRecord))
          throw new Error(notices.badAnswer("context", "a list of messages"));
        messages = given as unknown as AgentMessage[];
      },
      result: () => ({ messages }),
    };
  },
};

const beforeAgentStart: Rule<"before_agent_start"> = {
  begin: (event) => {
    const messages: CustomMessageDraft[] = [];
    let { systemPrompt } = event;
    const sections: Record<string, unknown> = {};
    return {
      told: () => ({ ...copyEach(event), systemPrompt, systemPromptOptions: { sections } }),
      take: (answer) => {
        const message = answer?.["message"];
        if (message !== undefined && message !== null) messages.push(draftOf(message));
        const given = answer?.["systemPrompt"];
        if (typeof given === "string") systemPrompt = given;
        else if (Array.isArray(given)) systemPrompt = given.join("\n\n");
      },
      result: () => {
        const added = Object.values(sections).filter((text) => typeof text === "string" && text !== "");
        const prompt = [systemPrompt, ...added].join("\n\n");
        return {
          ...(messages.length > 0 ? { messages } : {}),
          ...(prompt === event.systemPrompt ? {} : { systemPrompt: prompt }),
        };
      },
    };
  },
};

/** A message as extensions give it; without content it has none. */
export function draftOf(message: unknown): CustomMessageDraft {
  if (!isRecord(message) || typeof message["customType"] !== "string" || message["customType"] === "")
    throw new Error(notices.BAD_MESSAGE);
  const { customType, content, display, details } = copyOf(message);
  if (content !== undefined && content !== null && typeof content !== "string" && !Array.isArray(content))
    throw new Error(notices.BAD_MESSAGE);
  return {
    customType: customType as string,
    content: (content ?? []) as CustomMessageDraft["content"],
    display: display === true,
    ...(details === undefined ? {} : { details }),
  };
}

const toolCall: Rule<"tool_call"> = {
  begin: (event) => {
    let input = copyOf(event.input);
    let blocked: HookResult<"tool_call"> | undefined;
    return {
      told: () => ({ ...event, input }),
      take: (answer, told) => {
        const given = answer?.["input"] ?? told["input"];
        if (!isRecord(given)) throw new Error(notices.badAnswer("tool_call", "an object where it has an input"));
        input = given;
        if (answer?.["block"] !== true) return false;
        const { reason, terminate } = answer;
        blocked = {
          block: true,
          ...(typeof reason === "string" ? { reason } : {}),
          ...(terminate === true ? { terminate } : {}),
        };
        return true;
      },
      // A copy, so that what was checked is what is called.
      result: () => blocked ?? { input: copyOf(input) },
    };
  },
  failed: (path, reason) => ({ block: true, reason: notices.callBlocked(path, reason) }),
};

const toolResult: Rule<"tool_result"> = {
  begin: (event) => {
    let patch: HookResult<"tool_result"> | undefined;
    return {
      told: () => copyEach({ ...event, ...patch }),
      take: (answer) => {
        if (answer === undefined) return;
        const { content, isError } = answer;
        if (content !== undefined && !Array.isArray(content))
          throw new Error(notices.badAnswer("tool_result", "an object whose content is a list"));
        patch = {
          ...patch,
          ...(content === undefined ? {} : { content: content as NonNullable<typeof patch>["content"] & object }),
          ...("details" in answer ? { details: answer["details"] } : {}),
          ...(typeof isError === "boolean" ? { isError } : {}),
        };
      },
      result: () => patch,
    };
  },
};

const input: Rule<"input"> = {
  begin: (event) => {
    let { text, images } = event;
    let result: HookResult<"input"> = { action: "continue" };
    return {
      told: () => ({ ...copyEach(event), text, ...(images === undefined ? {} : { images: copyOf(images) }) }),
      take: (answer) => {
        // omp says `handled: true`, and transforms without naming it.
        if (answer?.["action"] === "handled" || answer?.["handled"] === true) {
          result = { action: "handled" };
          return true;
        }
        if (typeof answer?.["text"] !== "string" || answer["action"] === "continue") return false;
        ({ text } = answer as { text: string });
        if (Array.isArray(answer["images"])) images = answer["images"] as ImageContent[];
        result = { action: "transform", text, ...(images === undefined ? {} : { images }) };
        return false;
      },
      result: () => result,
    };
  },
};

const userBash: Rule<"user_bash"> = {
  begin: (event) => {
    let given: HookResult<"user_bash"> | undefined;
    return {
      told: () => copyEach(event),
      take: (answer) => {
        const { result, operations } = answer ?? {};
        if (isRecord(operations) && typeof operations["exec"] === "function")
          given = { operations } as unknown as HookResult<"user_bash">;
        else if (isRecord(result)) given = { result: bashResultOf(result) };
        return given !== undefined;
      },
      result: () => given,
    };
  },
  // Whoever wanted it run elsewhere, or not at all, is not served by running it here.
  failed: (path, reason) => ({
    result: { output: notices.commandBlocked(path, reason), exitCode: 1, cancelled: false, truncated: false },
  }),
};

function bashResultOf(result: Record<string, unknown>): UserBashResult {
  const { output, exitCode, cancelled, truncated, fullOutputPath } = result;
  if (typeof output !== "string") throw new Error(notices.badAnswer("user_bash", "an object whose output is text"));
  return {
    output,
    exitCode: typeof exitCode === "number" ? exitCode : undefined,
    cancelled: cancelled === true,
    truncated: truncated === true,
    ...(typeof fullOutputPath === "string" ? { fullOutputPath } : {}),
  };
}

const beforeProviderRequest: Rule<"before_provider_request"> = {
  begin: (event) => {
    let { payload } = event;
    return {
      told: () => ({ payload: copyOf(payload) }),
      take: (answer, told) => {
        payload = answer ?? told["payload"];
      },
      result: () => payload,
    };
  },
};

const RESOURCES = ["skillPaths", "promptPaths", "themePaths"] as const;
const resourcesDiscover: Rule<"resources_discover"> = {
  begin: (event) => {
    const found: Required<HookResult<"resources_discover">> = { skillPaths: [], promptPaths: [], themePaths: [] };
    return {
      told: () => copyEach(event),
      take: (answer) => {
        for (const kind of RESOURCES) {
          const paths: unknown = answer?.[kind];
          if (Array.isArray(paths)) found[kind].push(...paths.filter((path) => typeof path === "string"));
        }
      },
      result: () => found,
    };
  },
};

/** The first who decides. */
const projectTrust: Rule<"project_trust"> = {
  begin: (event) => {
    let decision: HookResult<"project_trust"> | undefined;
    return {
      told: () => copyEach(event),
      take: (answer) => {
        const { trusted, remember } = answer ?? {};
        if (trusted !== "yes" && trusted !== "no") return false;
        decision = { trusted, remember: remember === true };
        return true;
      },
      result: () => decision,
    };
  },
};

export const MERGE_RULES: { readonly [N in HookName]: Rule<N> } = {
  session_start: tells(),
  session_shutdown: { ...tells(), together: true },
  session_before_switch: decides(),
  session_switch: tells(),
  session_before_branch: decides(),
  session_branch: tells(),
  session_before_tree: decides(),
  session_tree: tells(),
  session_info_changed: tells(),
  session_before_compact: decides(),
  "session.compacting": decides(),
  session_compact: tells(),
  session_compact_failed: tells(),
  context,
  before_agent_start: beforeAgentStart,
  before_provider_request: beforeProviderRequest,
  after_provider_response: tells(),
  provider_stream_event: tells(lazyCopy),
  agent_start: tells(),
  agent_end: tells(lazyCopy),
  agent_settled: tells(),
  turn_start: tells(),
  turn_end: tells(lazyCopy),
  message_start: tells(),
  message_update: tells(lazyCopy),
  message_end: tells(),
  tool_execution_start: tells(),
  tool_execution_update: tells(lazyCopy),
  tool_execution_end: tells(),
  tool_call: toolCall,
  tool_result: toolResult,
  input,
  user_bash: userBash,
  model_select: tells(),
  thinking_level_select: tells(),
  resources_discover: resourcesDiscover,
  project_trust: projectTrust,
};
export const HOOK_NAMES: ReadonlySet<string> = new Set(Object.keys(MERGE_RULES));
