/**
 * What the screen needs of the extensions that are loaded. Part of `tui/`; cli/ fills it with the extension host, and
 * without extensions it is NO_EXTENSIONS.
 */
import type { AutocompleteItem, KeyId } from "@earendil-works/pi-tui";
import type { EntryRenderer, MessageRenderer, ToolDefinition } from "../extensions/api.ts";
import type { UiPort } from "../extensions/ui-port.ts";

/** Whose something is, for what is said about it. */
export interface UiOwner {
  /** As the user knows the extension. */
  name: string;
  /** It is no longer loaded: all of it leaves the screen. */
  gone?: AbortSignal | undefined;
  /** What it has thrown while it was asked to draw or to take a key; reported like any other mistake of it. */
  failed(event: string, error: unknown): void;
}

export interface Owned<T> {
  owner: UiOwner;
  value: T;
}

export interface ExtensionCommand {
  /** As it is typed, without the slash. */
  name: string;
  description: string | undefined;
  /** Where it comes from, for the list of completions: "user", "project", a package's name. */
  source: string;
  complete?: (prefix: string) => AutocompleteItem[] | null | Promise<AutocompleteItem[] | null>;
  /** Never rejects: failures are reported. */
  run(args: string): Promise<void>;
}

export interface ExtensionShortcut {
  key: KeyId;
  description: string | undefined;
  /** Never rejects: failures are reported. */
  run(): Promise<void>;
}

export interface ScreenExtensions {
  /** Called once the screen stands; extensions hear of their session then. */
  attach(uiFor: (owner: UiOwner) => UiPort): Promise<void>;
  commands(): readonly ExtensionCommand[];
  shortcuts(): readonly ExtensionShortcut[];
  messageRenderer(customType: string): Owned<MessageRenderer> | undefined;
  entryRenderer(customType: string): Owned<EntryRenderer> | undefined;
  hasEntryRenderers(): boolean;
  tool(name: string): Owned<ToolDefinition> | undefined;
  /** Loads all of them anew. Resolves with what the user should know, one sentence each. */
  reload(): Promise<string[]>;
  /** Markdown: each extension, what it brought, and what is wrong with it. */
  report(): string;
}

export const NO_EXTENSIONS: ScreenExtensions = {
  attach: async () => undefined,
  commands: () => [],
  shortcuts: () => [],
  messageRenderer: () => undefined,
  entryRenderer: () => undefined,
  hasEntryRenderers: () => false,
  tool: () => undefined,
  reload: async () => [],
  report: () => "No extension is loaded; docs/extensions.md says where bough looks for them.",
};
