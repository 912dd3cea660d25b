/**
 * Whether a project's own files may act on bough, asked on the terminal before anything is drawn. Part of `cli/`; used by
 * terminal-mode.ts. A line with "y" is needed: keys typed ahead into a starting program must not trust anything.
 */
import { relative } from "node:path";
import { createInterface } from "node:readline";
import type { ProjectTrust } from "../agent/trust.ts";
import { sanitiseLine } from "../tui/sanitise.ts";

/** Files that are named in the question; of more, the number. */
const NAMED = 20;

/**
 * True only for the answers "y" and "yes". Enter, Escape, the end of the input and all else are no; Control+C ends the
 * program as it would without a question.
 */
export async function askTrust({ files }: ProjectTrust, cwd: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, historySize: 0 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const onKey = (_: unknown, { name }: { name?: string }): void => {
    if (name === "escape") terminal.close();
  };
  process.stdin.on("keypress", onKey);
  terminal.on("close", () => resolve(""));
  terminal.on("SIGINT", () => {
    terminal.close();
    process.kill(process.pid, "SIGINT");
  });
  terminal.question(questionFor(files, cwd), resolve);
  const answer = await promise;
  terminal.close();
  process.stdin.off("keypress", onKey);
  process.stdout.write("\n");
  return /^(?:y|yes)$/i.test(answer.trim());
}

function questionFor(files: readonly string[], cwd: string): string {
  const named = files.slice(0, NAMED).map((path) => `  ${sanitiseLine(relative(cwd, path))}\n`);
  const more = files.length > NAMED ? `  and ${files.length - NAMED} more\n` : "";
  return `This project has files that can change what bough does:\n${named.join("")}${more}Trust them as they are now? [y/N] `;
}
