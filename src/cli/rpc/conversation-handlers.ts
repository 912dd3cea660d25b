/**
 * What the commands of `--mode rpc` do about prompts, the queue, shell commands and the model. Part of `cli/`; used by
 * handlers.ts.
 */
import { queueJson } from "../event-json.ts";
import type { Given } from "./commands.ts";
import type { Handlers } from "./dispatcher.ts";
import { CommandFailure } from "./failure.ts";
import type { RpcHost } from "./rpc-host.ts";
import { checkLeaf } from "./rpc-host.ts";
import { modelJson, serverJson } from "./state-json.ts";

type Handled =
  | ("prompt" | "steer" | "follow_up" | "clear_queue" | "take_unsent" | "abort" | "abort_retry" | "bash" | "abort_bash")
  | ("set_plan_mode" | "get_plan" | "approve_plan" | "get_mcp" | "select_mcp_tools")
  | ("get_commands" | "reload_extensions")
  | ("get_available_models" | "set_model" | "set_thinking_level");

export function conversationHandlers({ session, registry, told, extensions }: RpcHost): Pick<Handlers, Handled> {
  return {
    prompt: async ({ message, images, streamingBehavior, expectedLeaf }) => {
      // The session would wait for the end of a stopped turn, and then nobody could tell whether it had begun.
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
    set_plan_mode: ({ on }) => {
      if (on) session.plan.start();
      else session.plan.stop();
      return {};
    },
    get_plan: () => session.plan.read(),
    approve_plan: async ({ choice }) => {
      const { promise: begun, resolve } = Promise.withResolvers<boolean>();
      const unsubscribe = session.subscribe((event) => {
        if (event.type === "agent_start") resolve(true);
      });
      const carriedOut = session.plan.approve(choice);
      try {
        const started = await Promise.race([begun, carriedOut.then(() => false)]);
        if (started) carriedOut.catch(told);
        return { started };
      } finally {
        unsubscribe();
      }
    },
    get_mcp: () => ({ servers: session.mcp.servers.map(serverJson) }),
    select_mcp_tools: ({ names }) => {
      const known = new Set(session.mcp.servers.flatMap(({ tools }) => tools.map(({ name }) => name)));
      const unknown = names.find((name) => !known.has(name));
      if (unknown !== undefined) throw new CommandFailure("refused", `No MCP server has a tool ${unknown} now.`);
      session.mcp.select(names);
      return {};
    },
    get_commands: () => ({
      commands: (extensions?.host.getCommands() ?? []).map(({ name, description, sourceInfo }) => ({
        name,
        source: sourceInfo.path,
        ...(description === undefined ? {} : { description }),
      })),
    }),
    reload_extensions: async () => {
      await extensions?.host.reload();
      return {};
    },
    get_available_models: () => ({ models: registry.available().map(modelJson) }),
    set_model: ({ model: wanted }) => {
      const choice = registry.choose(wanted);
      if ("problem" in choice) throw new CommandFailure("refused", choice.problem);
      session.setModel(choice.model);
      if (choice.thinkingLevel !== undefined) session.setThinkingLevel(choice.thinkingLevel);
      return { model: modelJson(choice.model), thinkingLevel: session.thinkingLevel };
    },
    set_thinking_level: ({ level }) => {
      session.setThinkingLevel(level);
      return { level: session.thinkingLevel };
    },
  };
}
