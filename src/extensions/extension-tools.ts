/**
 * `ExtensionTools`: the tools of extensions beside bough's own, and which of all of them the model may call.
 * Part of `extensions/`; the host has one, AgentSession asks it for each run.
 */
import type { AgentTool, AgentToolResult } from "@earendil-works/pi-agent-core";
import { isRecord } from "../tree/json.ts";
import type { ExtensionContext, SourceInfo, ToolDefinition, ToolInfo } from "./api.ts";
import type { Extension } from "./extension.ts";
import * as notices from "./extension-notices.ts";

export interface ExtensionToolsHost {
  extensions(): readonly Extension[];
  contextOf(extension: Extension): ExtensionContext;
  /** bough's own, as long as `merged` was not called. */
  builtInTools(): readonly AgentTool[];
}

interface Found {
  extension: Extension;
  definition: ToolDefinition;
}

export class ExtensionTools {
  readonly #host: ExtensionToolsHost;
  #own: readonly AgentTool[] | undefined;
  /** Names; undefined: all. */
  #active: Set<string> | undefined;

  constructor(host: ExtensionToolsHost) {
    this.#host = host;
  }

  /** What the model may call: `own` in their order, replaced by extensions' of the same name, then the others. */
  merged(own: readonly AgentTool[]): AgentTool[] {
    this.#own = own;
    return this.#all().filter(({ name }) => this.#active?.has(name) ?? true);
  }

  /** The definition behind a tool's name, for its renderers; undefined for bough's own. */
  definition(name: string): ToolDefinition | undefined {
    return this.#found().get(name)?.definition;
  }

  /** What extensions' tools have to say in the system prompt, when these are the tools. */
  promptNotes(tools: readonly { name: string }[]): string {
    const definitions = tools.map(({ name }) => this.definition(name)).filter((tool) => tool !== undefined);
    const snippets = definitions
      .filter(({ promptSnippet }) => promptSnippet)
      .map(({ name, promptSnippet }) => `- ${name}: ${promptSnippet}`);
    const guidelines = definitions.flatMap(({ promptGuidelines }) => promptGuidelines ?? []).map((line) => `- ${line}`);
    return [...snippets, ...guidelines].join("\n");
  }

  all(): ToolInfo[] {
    const found = this.#found();
    return this.#all().map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
      sourceInfo: found.get(name)?.extension.source ?? builtIn(name),
    }));
  }

  active(): string[] {
    return this.#all()
      .map(({ name }) => name)
      .filter((name) => this.#active?.has(name) ?? true);
  }

  setActive(names: readonly string[]): void {
    this.#active = new Set(names);
  }

  /** A tool that comes later may be called at once. */
  registered(name: string): void {
    this.#active?.add(name);
  }

  reset(): void {
    this.#active = undefined;
  }

  /** Of a name the first counts. */
  #found(): Map<string, Found> {
    const found = new Map<string, Found>();
    for (const extension of this.#host.extensions())
      for (const [name, definition] of extension.tools)
        if (!found.has(name)) found.set(name, { extension, definition });
    return found;
  }

  #all(): AgentTool[] {
    const found = this.#found();
    const own = this.#own ?? this.#host.builtInTools();
    const ownNames = new Set(own.map(({ name }) => name));
    const added = [...found].filter(([name]) => !ownNames.has(name));
    return [
      ...own.map((tool) => (found.has(tool.name) ? this.#tool(found.get(tool.name)!) : tool)),
      ...added.map(([, one]) => this.#tool(one)),
    ];
  }

  #tool({ extension, definition }: Found): AgentTool {
    const { name, label, description, parameters, prepareArguments, executionMode } = definition;
    return {
      name,
      label,
      description,
      parameters,
      ...(prepareArguments === undefined
        ? {}
        : { prepareArguments: (args) => prepareArguments.call(definition, args) }),
      ...(executionMode === undefined ? {} : { executionMode }),
      execute: async (id, params, signal, onUpdate) => {
        extension.mustExist();
        const ctx = this.#host.contextOf(extension);
        return soundResult(name, await definition.execute(id, params, signal, onUpdate, ctx));
      },
    };
  }
}

const builtIn = (name: string): SourceInfo => ({
  path: `builtin:${name}`,
  source: "builtin",
  scope: "user",
  origin: "top-level",
});

function soundResult(name: string, result: AgentToolResult<unknown>): AgentToolResult<unknown> {
  const content: unknown = isRecord(result) ? result["content"] : undefined;
  if (typeof content === "string") return { ...result, content: [{ type: "text", text: content }] };
  if (!Array.isArray(content) || !content.every(isRecord)) throw new Error(notices.badToolResult(name));
  return result;
}
