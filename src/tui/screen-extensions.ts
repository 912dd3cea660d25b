/**
 * What the screen needs of the extensions that are loaded. Part of `tui/`; cli/ fills it with the extension host, and
 * without extensions it is NO_EXTENSIONS.
 */
import type { AutocompleteItem, KeyId } from "@earendil-works/pi-tui";
import type {
  EntryRenderer,
  MarkdownMessageType,
  MarkdownTransformer,
  MessageRenderer,
  ToolDefinition,
} from "../extensions/api.ts";
import type { UiFor, UiOwner } from "../extensions/ui-port.ts";

/** Something of an extension. */
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

/** What the screen does for the extensions together. */
export interface ExtensionFace {
  uiFor: UiFor;
  /** What the user should know of them. */
  tell(level: "warning" | "error", text: string): void;
  /** One of them wants to leave; done as soon as nothing runs. */
  shutdown(): void;
  /** There are other commands than before. */
  changed(): void;
}

export interface ScreenExtensions {
  /** Called once the screen stands; extensions hear of their session then. */
  attach(screen: ExtensionFace): Promise<void>;
  commands(): readonly ExtensionCommand[];
  shortcuts(): readonly ExtensionShortcut[];
  messageRenderer(customType: string): Owned<MessageRenderer> | undefined;
  entryRenderer(customType: string): Owned<EntryRenderer> | undefined;
  hasEntryRenderers(): boolean;
  /** In the order in which they are asked. */
  markdownTransformers(messageType: MarkdownMessageType): readonly Owned<MarkdownTransformer>[];
  tool(name: string): Owned<ToolDefinition> | undefined;
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
  markdownTransformers: () => [],
  tool: () => undefined,
  report: () => "No extension is loaded; docs/extensions.md says where bough looks for them.",
};
