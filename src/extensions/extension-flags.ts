/**
 * Flags of extensions on the command line. What bough does not know itself is kept by the reader of arguments and
 * looked up once the extensions are loaded. Part of `extensions/`.
 */
import * as notices from "./extension-notices.ts";
import type { ExtensionFlag } from "./registrations.ts";

/** `--name`, `--name=value`, or `--name value`, where the reader cannot know whether the value belongs to it. */
export interface GivenFlag {
  name: string;
  value?: string;
}

/** The values that count, and what is wrong, one plain sentence each. The last of several counts. */
export function readFlags(
  given: readonly GivenFlag[],
  flags: ReadonlyMap<string, ExtensionFlag>,
): { values: Map<string, boolean | string>; problems: string[] } {
  const values = new Map<string, boolean | string>();
  const problems: string[] = [];
  for (const { name, value } of given) {
    const type = flags.get(name)?.options.type;
    if (type === undefined) problems.push(notices.unknownFlag(name));
    else if (type === "string" && value === undefined) problems.push(notices.flagNeedsText(name));
    else if (type === "string") values.set(name, value!);
    else if (value === undefined || value === "true") values.set(name, true);
    else if (value === "false") values.set(name, false);
    else problems.push(notices.flagTakesNone(name, value));
  }
  return { values, problems };
}
