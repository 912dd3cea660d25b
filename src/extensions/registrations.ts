/**
 * What several extensions register under one name, sorted out: commands, keys, flags, renderers. Pure functions over
 * the loaded extensions. Part of `extensions/`; the host uses them.
 */
import type {
  CommandInfo,
  CommandOptions,
  EntryRenderer,
  FlagOptions,
  MessageRenderer,
  ShortcutOptions,
} from "./api.ts";
import type { Extension } from "./extension.ts";
import * as notices from "./extension-notices.ts";

export interface ExtensionCommand extends CommandInfo {
  extension: Extension;
  options: CommandOptions;
}
export interface ExtensionShortcut {
  key: string;
  description: string | undefined;
  extension: Extension;
  options: ShortcutOptions;
}
export interface ExtensionFlag {
  name: string;
  extension: Extension;
  options: FlagOptions;
}

/** Commands as they are called: `name:1`, `name:2` … where several extensions have the name. */
export function commandsOf(extensions: readonly Extension[], builtIn: ReadonlySet<string>): ExtensionCommand[] {
  const all = extensions.flatMap((extension) =>
    [...extension.commands].map(([name, options]) => ({ extension, name, options })),
  );
  const usable = all.filter(({ name }) => !builtIn.has(name));
  const counts = new Map<string, number>();
  for (const { name } of usable) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Map<string, number>();
  return usable.map(({ extension, name, options }) => {
    const number = (taken.get(name) ?? 0) + 1;
    taken.set(name, number);
    return {
      name: counts.get(name) === 1 ? name : `${name}:${number}`,
      ...(options.description === undefined ? {} : { description: options.description }),
      source: "extension",
      sourceInfo: extension.source,
      extension,
      options,
    };
  });
}

/** Of one key the last counts; reserved ones are nobody's. */
export function shortcutsOf(
  extensions: readonly Extension[],
  isReserved: (key: string) => boolean,
): ExtensionShortcut[] {
  const byKey = new Map<string, ExtensionShortcut>();
  for (const extension of extensions)
    for (const [key, options] of extension.shortcuts)
      if (!isReserved(key)) byKey.set(key, { key, description: options.description, extension, options });
  return [...byKey.values()];
}

/** Of one name the first counts. */
export function flagsOf(extensions: readonly Extension[]): Map<string, ExtensionFlag> {
  const byName = new Map<string, ExtensionFlag>();
  for (const extension of extensions)
    for (const [name, options] of extension.flags)
      if (!byName.has(name)) byName.set(name, { name, extension, options });
  return byName;
}

export function messageRendererOf(extensions: readonly Extension[], customType: string): Found<MessageRenderer> {
  return firstWith(extensions, (extension) => extension.messageRenderers.get(customType));
}
export function entryRendererOf(extensions: readonly Extension[], customType: string): Found<EntryRenderer> {
  return firstWith(extensions, (extension) => extension.entryRenderers.get(customType));
}

type Found<T> = { extension: Extension; value: T } | undefined;
function firstWith<T>(extensions: readonly Extension[], of: (extension: Extension) => T | undefined): Found<T> {
  for (const extension of extensions) {
    const value = of(extension);
    if (value !== undefined) return { extension, value };
  }
  return undefined;
}

/** What the user should know of clashes, one plain sentence each. */
export function clashes(
  extensions: readonly Extension[],
  builtIn: ReadonlySet<string>,
  isReserved: (key: string) => boolean,
): string[] {
  const texts: string[] = [];
  const keys = new Map<string, string>();
  const flags = new Map<string, string>();
  const tools = new Map<string, string>();
  for (const extension of extensions) {
    const { path, commands, shortcuts, flags: ownFlags, tools: ownTools, unknownEvents, missingMethods } = extension;
    for (const name of commands.keys()) if (builtIn.has(name)) texts.push(notices.builtinCommand(path, name));
    for (const key of shortcuts.keys()) {
      if (isReserved(key)) texts.push(notices.reservedKey(path, key));
      else if (keys.has(key)) texts.push(notices.keyTaken(path, key, keys.get(key)!));
      keys.set(key, path);
    }
    for (const name of ownFlags.keys()) {
      if (flags.has(name)) texts.push(notices.flagTaken(path, name, flags.get(name)!));
      else flags.set(name, path);
    }
    for (const name of ownTools.keys()) {
      if (tools.has(name)) texts.push(notices.toolTaken(path, name, tools.get(name)!));
      else tools.set(name, path);
    }
    for (const method of missingMethods) texts.push(notices.missingMethod(path, method));
    for (const event of unknownEvents) texts.push(notices.unknownEvent(path, event));
  }
  return texts;
}
