/**
 * What the model reads in place of messages that are not its own kind: summaries, commands the user ran, named files.
 * Part of `tree/`: pure. Used by `convertToLlm`. All fixed words of a request stand here.
 */
import { fenced, inTags } from "./content.ts";

export const INTERRUPTED = "interrupted, no result";
export const NO_OUTPUT = "(no output)";
export const EARLIER_MESSAGES_MISSING = "(The messages before this answer are not part of the conversation any more.)";
export const IMAGES_ATTACHED = "(images that belong to the message before)";

export function compactionText(summary: string): string {
  return `The earlier part of this conversation was replaced by a summary. Continue from what it says.\n\n${inTags("summary", summary)}`;
}

export function branchText(summary: string): string {
  return `The conversation was on another branch and came back to this point. What happened there:\n\n${inTags("summary", summary)}`;
}

/** A command or a piece of code the user ran, as it is stored. Every field may be of any type. */
export interface Execution {
  intro: string;
  language: string;
  source: unknown;
  output: unknown;
  exitCode: unknown;
  cancelled: unknown;
  truncated: unknown;
  fullOutputPath: unknown;
}

export function executionText(run: Execution): string {
  const source = typeof run.source === "string" ? run.source : "";
  const output = typeof run.output === "string" ? run.output : "";
  const parts = [`${run.intro}\n${fenced(source, run.language)}`];
  parts.push(output.trim() === "" ? NO_OUTPUT : `Output:\n${fenced(output)}`);
  if (run.cancelled === true) parts.push("(cancelled by the user)");
  else if (typeof run.exitCode === "number" && run.exitCode !== 0) parts.push(`(exit code ${run.exitCode})`);
  if (run.truncated === true)
    parts.push(
      typeof run.fullOutputPath === "string" && run.fullOutputPath !== ""
        ? `(output cut; all of it is in ${run.fullOutputPath})`
        : "(output cut)",
    );
  return parts.join("\n\n");
}

/** A file named in a prompt; without content only its path. */
export function fileText(path: string, content: string | undefined): string {
  const quoted = path.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  return content === undefined ? `<file path="${quoted}" />` : inTags("file", content, ` path="${quoted}"`);
}
