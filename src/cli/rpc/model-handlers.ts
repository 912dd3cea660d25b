/**
 * What the commands of `--mode rpc` do about the model, the tools it has and its plans. Part of `cli/`; used by handlers.ts.
 */
import type { Handlers } from "./dispatcher.ts";
import { CommandFailure } from "./failure.ts";
import type { RpcHost } from "./rpc-host.ts";
import { modelJson, serverJson } from "./state-json.ts";

type Handled =
  | ("set_plan_mode" | "get_plan" | "approve_plan" | "get_mcp" | "select_mcp_tools")
  | ("get_commands" | "reload_extensions")
  | ("get_available_models" | "set_model" | "set_thinking_level");

export function modelHandlers({ session, registry, told, extensions }: RpcHost): Pick<Handlers, Handled> {
  return {
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
