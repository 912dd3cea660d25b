/**
 * The table of what each command of `--mode rpc` does; the compiler asks for every one. Part of `cli/`; used by rpc-mode.ts.
 */
import { conversationHandlers } from "./conversation-handlers.ts";
import type { Handlers } from "./dispatcher.ts";
import { modelHandlers } from "./model-handlers.ts";
import type { RpcHost } from "./rpc-host.ts";
import { sessionHandlers } from "./session-handlers.ts";

export const handlersFor = (host: RpcHost): Handlers => ({
  ...conversationHandlers(host),
  ...modelHandlers(host),
  ...sessionHandlers(host),
});
