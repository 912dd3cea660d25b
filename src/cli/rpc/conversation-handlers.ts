/**
 * What the commands of `--mode rpc` do about prompts, the queue and shell commands. Part of `cli/`; used by handlers.ts.
 */
import { queueJson } from "../event-json.ts";
import type { Given } from "./commands.ts";
import type { Handlers } from "./dispatcher.ts";
import type { RpcHost } from "./rpc-host.ts";
import { checkLeaf } from "./rpc-host.ts";

type Handled = "prompt" | "steer" | "follow_up" | "clear_queue" | "take_unsent" | Stopping | "bash";
type Stopping = "abort" | "abort_retry" | "abort_bash";

export function conversationHandlers({ session, told, extensions }: RpcHost): Pick<Handlers, Handled> {
  return {
    prompt: async ({ message, images, streamingBehavior, expectedLeaf }) => {
      // What a stopped turn still writes moves the leaf.
      if (session.isStopping) await session.abort();
      checkLeaf(session, expectedLeaf);
      if ((await extensions?.runCommand(message)) === true) return { disposition: "handled" };
      const { promise: accepted, resolve } = Promise.withResolvers<Given<"prompt">["disposition"]>();
      const answered = session.prompt(message, {
        source: "rpc",
        accepted: resolve,
        ...(images === undefined ? {} : { images }),
        ...(streamingBehavior === undefined ? {} : { streamingBehavior }),
      });
      // What is refused is refused before anything has started.
      const disposition = await Promise.race([accepted, answered.then(() => accepted)]);
      answered.catch(told);
      return { disposition };
    },
    steer: ({ message, images }) => {
      session.steer(message, images);
      return {};
    },
    follow_up: ({ message, images }) => {
      session.followUp(message, images);
      return {};
    },
    clear_queue: () => queueJson(session.takeQueue()),
    take_unsent: () => ({ messages: session.takeUnsent().map(({ text }) => text) }),
    abort: async () => {
      await session.abort();
      return {};
    },
    abort_retry: () => {
      session.abortRetry();
      return {};
    },
    bash: ({ command, excludeFromContext = false }) => session.runBash(command, { excludeFromContext }),
    abort_bash: () => {
      session.abortBash();
      return {};
    },
  };
}
