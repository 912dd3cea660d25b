/**
 * The answer of `/extensions`. Part of `cli/`; used by extension-screen.ts.
 */
import type { ExtensionHost } from "../extensions/host.ts";
import type { Extension } from "../extensions/extension.ts";

/** Markdown: each extension with what it brought, then what is wrong. */
export function extensionReport({ extensions, problems }: Pick<ExtensionHost, "extensions" | "problems">): string {
  const parts = extensions.map(described);
  if (extensions.length === 0) parts.push("No extension is loaded.");
  if (problems.length > 0) parts.push(["**Problems**", "", ...problems.map((text) => `- ${text}`)].join("\n"));
  return parts.join("\n\n");
}

function described({ path, source, ...brought }: Extension): string {
  const kinds: [string, Iterable<string>][] = [
    ["commands", [...brought.commands.keys()].map((name) => `/${name}`)],
    ["tools", brought.tools.keys()],
    ["keys", brought.shortcuts.keys()],
    ["flags", [...brought.flags.keys()].map((name) => `--${name}`)],
    ["draws", [...brought.messageRenderers.keys(), ...brought.entryRenderers.keys()]],
    ["listens to", new Set(brought.listeners.map(({ name }) => name))],
  ];
  const lines = kinds
    .map(([kind, names]) => [kind, [...names].map((name) => `\`${name}\``).join(", ")] as const)
    .filter(([, names]) => names !== "")
    .map(([kind, names]) => `- ${kind}: ${names}`);
  return [`**${path}** (${source.scope})`, "", ...(lines.length > 0 ? lines : ["- registers nothing"])].join("\n");
}
