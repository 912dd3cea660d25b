/**
 * The draft in the user's own editor.
 * Part of `tui/`; used by screen-leaving, which gives up the terminal meanwhile.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Opens `text` with a command line such as "code --wait" and resolves with what the user saved. Rejects when the
 * command cannot be started or ends with an error; the draft is then as it was.
 */
export async function editOutside(text: string, command: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bough-draft-"));
  const path = join(folder, "prompt.md");
  try {
    writeFileSync(path, text, { mode: 0o600 });
    // The command is the user's own and may have arguments; the path is passed beside it, never through the shell.
    const child = spawn("/bin/sh", ["-c", `${command} "$1"`, "sh", path], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0)
      throw new Error(`The editor "${command}" ended with ${code === null ? "a signal" : `code ${code}`}.`);
    return readFileSync(path, "utf8").replace(/\n$/, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
