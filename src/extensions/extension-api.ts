/**
 * The object an extension's factory is given. Part of `extensions/`; the host makes one for each extension.
 */
import type { SettingValues } from "../agent/settings.ts";
import { isRecord } from "../tree/json.ts";
import type {
  CommandInfo,
  Content,
  ExtensionAPI,
  ExtensionModels,
  FlagOptions,
  Listen,
  MarkdownMessageType,
  ToolDefinition,
} from "./api.ts";
import type { EventBus } from "./event-bus.ts";
import { exec } from "./exec.ts";
import type { Extension, Listener } from "./extension.ts";
import { hookNamed } from "./extension-events.ts";
import type { EventName } from "./extension-events.ts";
import * as notices from "./extension-notices.ts";
import type { ExtensionTools } from "./extension-tools.ts";
import { HOOK_NAMES, draftOf } from "./merge-rules.ts";
import { bringingServers } from "./mcp-api.ts";
import type { McpApi, McpApiHost } from "./mcp-api.ts";
import { bringingModels } from "./model-api.ts";
import type { ModelApi, ModelApiHost } from "./model-api.ts";
import type { ExtensionSession } from "./session-port.ts";

/** What the object needs of the host. */
export interface ApiHost extends McpApiHost, ModelApiHost {
  /** Throws before there is one. */
  session(method: string): ExtensionSession;
  readonly cwd: string;
  readonly models: ExtensionModels;
  readonly tools: ExtensionTools;
  settings(): SettingValues;
  readonly bus: EventBus;
  commands(): readonly CommandInfo[];
  /** False when there is no such command. */
  runCommand(name: string, args: string): Promise<boolean>;
  flag(name: string): boolean | string | undefined;
  failed(extension: Extension, event: string, error: unknown): void;
  /** Something was registered after the factory returned. */
  registered(): void;
}

export function createApi(extension: Extension, host: ApiHost): ExtensionAPI {
  return {
    ...missing(extension),
    ...registering(extension, host),
    ...bringingModels(extension, host),
    ...bringingServers(extension, host),
    ...acting(extension, host),
    ...beside(extension, host),
  };
}

/** pi's that bough does not have. An extension that calls one works without it, and the user is told. */
const MISSING_METHODS = ["registerToolRenderer"];
const missing = (extension: Extension): object =>
  Object.fromEntries(MISSING_METHODS.map((method) => [method, () => void extension.missingMethods.add(method)]));

const MARKDOWN_TYPES: readonly MarkdownMessageType[] = ["user", "assistant", "assistant-thinking"];

type Registering = "on" | `register${string}` | "getFlag";
type Beside = "exec" | "events";
type Part<K> = Pick<ExtensionAPI, Extract<keyof ExtensionAPI, K>>;

/** Allowed at any time. */
function registering(extension: Extension, host: ApiHost): Omit<Part<Registering>, keyof McpApi | keyof ModelApi> {
  const register = <T>(kind: Map<string, T>, name: unknown, value: T, isFirst = false): void => {
    extension.mustExist();
    if (typeof name !== "string" || name === "") throw new TypeError(notices.NO_NAME);
    if (!(isFirst && kind.has(name))) kind.set(name, value);
    host.registered();
  };
  const needs = (options: unknown, member: string): void => {
    if (!isRecord(options) || typeof options[member] !== "function") throw new TypeError(notices.noFunction(member));
  };
  // Nobody could type such a command, and providers refuse every request with such a tool.
  const needsWord = (name: unknown): void => {
    if (typeof name === "string" && /[\s\p{Cc}]/u.test(name)) throw new TypeError(notices.NOT_A_WORD);
  };
  return {
    on: ((name: EventName, call: unknown) => {
      extension.mustExist();
      if (typeof call !== "function") throw new TypeError(notices.noFunction("handler"));
      const hook = hookNamed(name, HOOK_NAMES);
      if (hook === undefined) {
        extension.unknownEvents.add(name);
        return () => undefined;
      }
      const listener: Listener = { hook, name, call: call as Listener["call"] };
      extension.listeners.push(listener);
      return () => {
        const index = extension.listeners.indexOf(listener);
        if (index >= 0) extension.listeners.splice(index, 1);
      };
    }) as Listen,
    registerTool: (tool) => {
      needs(tool, "execute");
      needsWord(tool.name);
      if (!isRecord(tool.parameters)) throw new TypeError(notices.NO_PARAMETERS);
      register(extension.tools, tool.name, tool as unknown as ToolDefinition);
      host.tools.registered(tool.name);
    },
    registerCommand: (name, options) => {
      needs(options, "handler");
      needsWord(name);
      register(extension.commands, name, options);
    },
    registerShortcut: (key, options) => {
      needs(options, "handler");
      register(extension.shortcuts, key.toLowerCase(), options);
    },
    registerFlag: (name, options) => register(extension.flags, name, options, true),
    getFlag: (name) => {
      extension.mustExist();
      const own: FlagOptions | undefined = extension.flags.get(name);
      return own === undefined ? undefined : (host.flag(name) ?? own.default);
    },
    registerMessageRenderer: (type, renderer) => register(extension.messageRenderers, type, renderer as never, true),
    registerMarkdownTransformer: (transformer, { messageTypes = MARKDOWN_TYPES } = {}) => {
      if (typeof transformer !== "function") throw new TypeError(notices.noFunction("transformer"));
      extension.markdownTransformers.clear();
      for (const type of messageTypes) register(extension.markdownTransformers, type, transformer);
    },
    registerEntryRenderer: (type, renderer) => register(extension.entryRenderers, type, renderer as never, true),
  };
}

/** Refused while the factory runs. */
function acting(
  extension: Extension,
  host: ApiHost,
): Omit<ExtensionAPI, keyof Part<Registering> | keyof McpApi | keyof ModelApi | Beside> {
  const session = (method: string): ExtensionSession => {
    extension.mustBeActive(method);
    return host.session(method);
  };
  const told = (method: string, work: Promise<unknown>): void => {
    work.catch((error: unknown) => host.failed(extension, method, error));
  };
  return {
    sendMessage: (message, options = {}) =>
      told("sendMessage", session("sendMessage").sendCustomMessage(draftOf(message), options)),
    sendUserMessage: (content, { expandPromptTemplates = false, ...options } = {}) => {
      const target = session("sendUserMessage");
      const send = async (): Promise<void> => {
        const command = expandPromptTemplates ? commandIn(content) : undefined;
        // What called this may be told of something that goes on.
        if (command !== undefined) await target.waitForIdle();
        if (command !== undefined && (await host.runCommand(...command))) return;
        await target.sendUserMessage(content, options);
      };
      told("sendUserMessage", send());
    },
    appendEntry: (customType, data) => void session("appendEntry").appendCustomEntry(customType, data),
    setLabel: (entryId, label) => session("setLabel").setLabel(entryId, label),
    setSessionName: (name) => session("setSessionName").setSessionName(name),
    getSessionName: () => session("getSessionName").sessionManager.getSessionName(),
    getActiveTools: () => {
      extension.mustBeActive("getActiveTools");
      return host.tools.active();
    },
    getAllTools: () => {
      extension.mustBeActive("getAllTools");
      return host.tools.all();
    },
    setActiveTools: (names) => {
      extension.mustBeActive("setActiveTools");
      host.tools.setActive(names);
    },
    getCommands: () => {
      extension.mustBeActive("getCommands");
      return host.commands().map(({ name, description, source, sourceInfo }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        source,
        sourceInfo: { ...sourceInfo },
      }));
    },
    setModel: async (model) => {
      const target = session("setModel");
      if (!host.models.hasConfiguredAuth(model)) return false;
      target.setModel(model);
      return true;
    },
    getSettings: () => {
      extension.mustBeActive("getSettings");
      return host.settings();
    },
    getThinkingLevel: () => session("getThinkingLevel").thinkingLevel,
    setThinkingLevel: (level) => session("setThinkingLevel").setThinkingLevel(level),
  };
}

/** Name and arguments of "/name arguments". */
function commandIn(content: Content): [name: string, args: string] | undefined {
  const found = typeof content === "string" ? /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(content.trim()) : null;
  return found === null ? undefined : [found[1]!, found[2] ?? ""];
}

function beside(extension: Extension, host: ApiHost): Pick<ExtensionAPI, Beside> {
  return {
    exec: (command, args = [], options = {}) => {
      extension.mustExist();
      return exec(command, args, { ...options, cwd: options.cwd ?? host.cwd });
    },
    events: {
      emit: (channel, data) => {
        extension.mustExist();
        host.bus.emit(channel, data);
      },
      on: (channel, listener) => {
        extension.mustExist();
        return extension.whenRetired(
          host.bus.on(channel, async (data) => {
            try {
              await listener(data);
            } catch (error) {
              host.failed(extension, `events ${channel}`, error);
            }
          }),
        );
      },
    },
  };
}
