/**
 * Where bough is and which version it is, for extensions. Part of `cli/`; see coding-agent.ts.
 */
import { readFileSync } from "node:fs";
import { stateDir } from "../../session/locations.ts";

/** The folder of bough's files in a project. */
export const CONFIG_DIR_NAME = ".bough";

/** The state folder: `$BOUGH_DIR`, else `~/.bough`. */
export const agentDirectory = (): string => stateDir();

export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as { version: string }
).version;
