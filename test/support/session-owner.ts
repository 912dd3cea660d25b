/**
 * A program for tests: opens the session of the file it is given, or makes one in the folder, writes a message, says the
 * file's path as a line, and then appends each line of its standard input. It ends with its input, without closing.
 */
import { statSync } from "node:fs";
import { createInterface } from "node:readline";
import { SessionManager } from "../../src/session/session-manager.ts";
import { user } from "./session-files.ts";

const [place = ""] = process.argv.slice(2);
const session = statSync(place).isDirectory() ? SessionManager.create("/w", place) : await SessionManager.open(place);
session.appendMessage(user("the owner's"));
await session.flush();
process.stdout.write(`${session.getSessionFile()}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const id = session.appendMessage(user(line));
  process.stdout.write(`${id}\n`);
}
