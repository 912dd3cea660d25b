/**
 * The first run: without a model there is still something to see. Part of `cli/`; used by terminal-mode.ts.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePrivateDir, examplePath } from "../session/locations.ts";
import { writeNewFile } from "../session/new-file.ts";
import { newHeader } from "../session/open-session.ts";
import { createFailed } from "../session/session-errors.ts";
import { encodeLine } from "../tree/format.ts";

const BUNDLED = fileURLToPath(new URL("../../assets/example-session.jsonl", import.meta.url));

/** How to go on from the example: two lines on connecting a model, each for a terminal of 80 columns. */
export const CONNECT_A_MODEL =
  "This is an example session; Escape twice shows its tree. To connect a model,\n" +
  "set a key such as ANTHROPIC_API_KEY, start Ollama, llama.cpp or LM Studio,\n" +
  "or name any endpoint: bough --base-url URL --model NAME --api-key KEY";

/**
 * The user's own copy of the example session for this folder, made at the first call; later calls give the same copy,
 * with all that was done in it. It lies apart from the sessions, so it is never "recent". Throws SessionFileError.
 */
export function exampleSession(cwd: string): string {
  const path = examplePath(cwd);
  if (existsSync(path)) return path;
  const [header = "", ...entries] = readFileSync(BUNDLED, "utf8").split("\n");
  const { timestamp } = JSON.parse(header);
  const lines = [encodeLine({ ...newHeader(cwd), timestamp }), ...entries];
  try {
    ensurePrivateDir(dirname(path));
    writeNewFile(path, [Buffer.from(lines.join("\n"))]);
  } catch (error) {
    // Another bough may have made it meanwhile.
    if (!existsSync(path)) throw createFailed(path, error);
  }
  return path;
}
