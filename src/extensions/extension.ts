/**
 * `Extension`: one extension and what it has registered. Part of `extensions/`; the loader makes it, the host reads it.
 */
import type { McpServerConfig } from "../agent/mcp/mcp-config.ts";
import type { HookName } from "../agent/hook-port.ts";
import type {
  CommandOptions,
  EntryRenderer,
  ExtensionContext,
  FlagOptions,
  MarkdownTransformer,
  MessageRenderer,
  ShortcutOptions,
  SourceInfo,
  ToolDefinition,
} from "./api.ts";
import type { EventName } from "./extension-events.ts";
import * as notices from "./extension-notices.ts";
import { HandlerClock } from "./handler-clock.ts";

export interface Listener {
  hook: HookName;
  /** The name it was registered with, which it hears. */
  name: EventName;
  call: (event: object, ctx: ExtensionContext) => unknown;
}

export interface RegisteredServer {
  config: McpServerConfig;
  /** Ends it; absent until there is a session. */
  end?: () => void;
}

export class Extension {
  /** Of its file. */
  readonly path: string;
  readonly source: SourceInfo;
  readonly clock = new HandlerClock();
  readonly listeners: Listener[] = [];
  readonly tools = new Map<string, ToolDefinition>();
  readonly commands = new Map<string, CommandOptions>();
  readonly shortcuts = new Map<string, ShortcutOptions>();
  readonly flags = new Map<string, FlagOptions>();
  readonly messageRenderers = new Map<string, MessageRenderer>();
  readonly entryRenderers = new Map<string, EntryRenderer>();
  /** By what they change. */
  readonly markdownTransformers = new Map<string, MarkdownTransformer>();
  /** What takes each away again, by the provider's name. */
  readonly providers = new Map<string, () => void>();
  /** The same for virtual models, by "provider/id". */
  readonly virtualModels = new Map<string, () => void>();
  /** The same for MCP servers, by name. */
  readonly mcpServers = new Map<string, RegisteredServer>();
  /** Events it listens to that do not exist. */
  readonly unknownEvents = new Set<string>();
  /** Methods of pi's it has called that bough does not have. */
  readonly missingMethods = new Set<string>();
  readonly #endings = new Set<() => void>();
  #phase: "loading" | "active" | "retired" = "loading";

  constructor(source: SourceInfo) {
    this.source = source;
    this.path = source.path;
  }

  /** Throws once the extension's objects count no more. */
  mustExist(): void {
    if (this.#phase === "retired") throw new Error(notices.STALE);
  }

  /** Throws also while the factory runs; `method` of the API is named then. */
  mustBeActive(method: string): void {
    this.mustExist();
    if (this.#phase === "loading") throw new Error(notices.whileLoading(method));
  }

  /** Its factory has returned. */
  activate(): void {
    if (this.#phase === "loading") this.#phase = "active";
  }

  /** Called when the extension goes; returns a function that calls it now, once. */
  whenRetired(end: () => void): () => void {
    this.#endings.add(end);
    return () => {
      if (this.#endings.delete(end)) end();
    };
  }

  /** Nothing of it counts any more. */
  retire(): void {
    this.#phase = "retired";
    this.listeners.length = 0;
    for (const map of [this.tools, this.commands, this.shortcuts, this.flags, this.providers]) map.clear();
    for (const { end } of this.mcpServers.values()) end?.();
    this.markdownTransformers.clear();
    for (const map of [this.mcpServers, this.virtualModels, this.messageRenderers, this.entryRenderers]) map.clear();
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}
