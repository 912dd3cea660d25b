/**
 * What package names mean in extensions: bough's own pieces, for every name under which such extensions know them.
 * Part of `cli/`; handed to the loader of extensions. Nothing is imported here: that is the extension's doing.
 */
import { extname } from "node:path";

/** pi's packages have had two scopes, omp's have a third. */
const SCOPES = ["@earendil-works", "@mariozechner", "@oh-my-pi"];
/** Parts of pi-ai that extensions import by themselves. */
const AI_PARTS = ["models", "oauth", "providers/all", "session-resources"];

/** Module name → URL of the module that stands for it. */
export function extensionNames(): Map<string, string> {
  const codingAgent = own("coding-agent");
  const ai = own("ai");
  const names = new Map([
    ["bough", codingAgent],
    ["typebox", resolved("typebox")],
    ["typebox/compile", resolved("typebox/compile")],
    ["typebox/value", resolved("typebox/value")],
    ["@sinclair/typebox", resolved("typebox")],
    ["@sinclair/typebox/compiler", resolved("typebox/compile")],
    ["@sinclair/typebox/value", resolved("typebox/value")],
  ]);
  for (const scope of SCOPES) {
    names.set(`${scope}/pi-coding-agent`, codingAgent);
    names.set(`${scope}/pi-tui`, resolved("@earendil-works/pi-tui"));
    names.set(`${scope}/pi-agent-core`, resolved("@earendil-works/pi-agent-core"));
    names.set(`${scope}/pi-ai`, ai);
    names.set(`${scope}/pi-ai/compat`, ai);
    for (const part of AI_PARTS) names.set(`${scope}/pi-ai/${part}`, resolved(`@earendil-works/pi-ai/${part}`));
  }
  return names;
}

const resolved = (name: string): string => import.meta.resolve(name);

/** The compiled program has the same files with another ending. */
const own = (name: string): string =>
  new URL(`./for-extensions/${name}${extname(import.meta.url)}`, import.meta.url).href;
