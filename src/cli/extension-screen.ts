/**
 * The loaded extensions as the terminal's screen needs them. Part of `cli/`; used by terminal-mode.ts.
 */
import type { KeyId } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import { entryRendererOf, messageRendererOf } from "../extensions/registrations.ts";
import type { Extension } from "../extensions/extension.ts";
import type { Owned, ScreenExtensions } from "../tui/screen-extensions.ts";
import { extensionReport } from "./extension-report.ts";
import type { LoadedExtensions } from "./loaded-extensions.ts";

export function screenExtensions(loaded: LoadedExtensions, session: AgentSession): ScreenExtensions {
  const { host } = loaded;
  const owned = <T>(found: { extension: Extension; value: T } | undefined): Owned<T> | undefined =>
    found && { owner: host.ownerOf(found.extension), value: found.value };
  return {
    attach: async ({ uiFor, ...face }) => {
      host.setUi(uiFor);
      loaded.face(face);
      await session.begin();
    },
    commands: () =>
      host.getCommands().map(({ name, description, sourceInfo }) => ({
        name,
        description,
        source: sourceInfo.source,
        complete: (prefix) => host.completeCommand(name, prefix),
        run: async (args) => void (await host.runCommand(name, args)),
      })),
    shortcuts: () =>
      host.getShortcuts().map((shortcut) => ({
        key: shortcut.key as KeyId,
        description: shortcut.description,
        run: () => host.runShortcut(shortcut),
      })),
    messageRenderer: (type) => owned(messageRendererOf(host.extensions, type)),
    entryRenderer: (type) => owned(entryRendererOf(host.extensions, type)),
    hasEntryRenderers: () => host.extensions.some(({ entryRenderers }) => entryRenderers.size > 0),
    markdownTransformers: (type) =>
      host.extensions.flatMap((extension) => {
        const value = extension.markdownTransformers.get(type);
        return value === undefined ? [] : [{ owner: host.ownerOf(extension), value }];
      }),
    tool: (name) => {
      const value = host.tools.definition(name);
      const extension = host.extensions.find(({ tools }) => tools.get(name) === value);
      return value && extension && owned({ extension, value });
    },
    report: () => extensionReport(host),
  };
}
