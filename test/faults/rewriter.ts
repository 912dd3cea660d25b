/**
 * A program for FT16: does one thing that makes a whole file, and says "done <path>". What it does is JSON in the first
 * argument.
 */
import { writeSync } from "node:fs";
import { SessionManager } from "../../src/session/session-manager.ts";

export interface Rewrite {
  what: "open" | "branch" | "export" | "fork";
  /** The session's file. */
  source: string;
  /** Where new ones go. */
  folder: string;
}

const { what, source, folder } = JSON.parse(process.argv[2]!) as Rewrite;

async function rewrite(): Promise<string | undefined> {
  if (what === "fork") return (await SessionManager.forkFrom(source, "/w", folder)).getSessionFile();
  const session = await SessionManager.open(source);
  if (what === "open") return session.getSessionFile();
  const leaf = session.getLeafId()!;
  return what === "export" ? session.exportBranch(leaf) : session.createBranchedSession(leaf);
}

writeSync(1, `done ${await rewrite()}\n`);
process.exit(0);
