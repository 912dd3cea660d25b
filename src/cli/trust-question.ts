/**
 * Whether a project's own files may act on bough, asked on the terminal before anything is drawn. Part of `cli/`; used by
 * terminal-mode.ts. A line with "y" is needed: keys typed ahead into a starting program must not trust anything.
 */
import { relative } from "node:path";
import type { ProjectTrust } from "../agent/trust.ts";
import { sanitiseLine } from "../tui/sanitise.ts";
import { askLine } from "./ask-line.ts";

/** Files that are named in the question; of more, the number. */
const NAMED = 20;

/** True only for the answers "y" and "yes"; all else is no. */
export const askTrust = async ({ files }: ProjectTrust, cwd: string): Promise<boolean> =>
  /^(?:y|yes)$/i.test((await askLine(questionFor(files, cwd))).trim());

function questionFor(files: readonly string[], cwd: string): string {
  const named = files.slice(0, NAMED).map((path) => `  ${sanitiseLine(relative(cwd, path))}\n`);
  const more = files.length > NAMED ? `  and ${files.length - NAMED} more\n` : "";
  return `This project has files that can change what bough does:\n${named.join("")}${more}Trust them as they are now? [y/N] `;
}
