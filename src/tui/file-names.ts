/**
 * The files below a folder as the find tool sees them: ignored ones and git's own left out.
 * Part of `tui/`; used by the editor's `@file` completion.
 */
import { runRipgrep } from "../agent/tools/ripgrep.ts";

/** A list this long completes any name; larger trees are cut, not waited for. */
const MAX_FILES = 50_000;
/** How long a list is good, in milliseconds: files come and go while an agent works. */
const KEPT_FOR = 5000;

export class FileNames {
  readonly #folder: string;
  #listed: { at: number; names: Promise<readonly string[]> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Paths relative to the folder, "/" between parts; empty when they cannot be listed. */
  list(): Promise<readonly string[]> {
    const now = performance.now();
    if (this.#listed === undefined || now - this.#listed.at > KEPT_FOR)
      this.#listed = { at: now, names: listFiles(this.#folder) };
    return this.#listed.names;
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    await runRipgrep({
      args: ["--files", "--null", "--path-separator=/"],
      cwd: folder,
      delimiter: 0,
      onRecord: (record) => names.push(record.toString("utf8")) < MAX_FILES,
      signal: undefined,
    });
  } catch {
    // Without ripgrep, or in a folder that is gone, there is nothing to offer; typing a path still works.
    return [];
  }
  return names;
}
