/**
 * A program for FT18: reads the session whose path it is given, in every way there is, appends to it, and says what it
 * found as JSON.
 */
import { SessionManager } from "../../src/session/session-manager.ts";
import { user } from "../support/session-files.ts";

export interface Survey {
  entries: number;
  codes: string[];
  branch: number;
  /** Of the last entry, when it is a text. */
  lastText: string | undefined;
  /** Whether the next entry is there after reopening, below the leaf. */
  appended: boolean;
  /** Whether plain objects have got members that they had not. */
  polluted: boolean;
  /** The most that was in use, in bytes. */
  memory: number;
}

const path = process.argv[2]!;
const session = await SessionManager.open(path);
const entries = session.getEntries();
const branch = session.getBranch().length;
session.getTree();
session.buildSessionContext();
session.getUsage();
const leaf = session.getLeafId();
const last = entries.at(-1) as { message?: { content?: unknown } } | undefined;
const text = last?.message?.content;
const id = session.appendMessage(user("next"));
await session.close();
const again = await SessionManager.open(path, { readOnly: true });
const found: Survey = {
  entries: entries.length,
  codes: session.getProblems().map(({ code }) => code),
  branch,
  lastText: typeof text === "string" ? text : undefined,
  appended: again.getEntry(id)?.parentId === leaf && again.getLeafId() === id,
  polluted: "polluted" in {},
  memory: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(JSON.stringify(found));
