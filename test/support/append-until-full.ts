/**
 * A program for tests: talks to the session in the folder it is given until the disk takes no more, then says what it
 * saw as one line of JSON and waits for its standard input to end; then it tries once more.
 */
import { SessionManager } from "../../src/session/session-manager.ts";
import { user } from "./session-files.ts";

const session = SessionManager.create("/w", process.argv[2]!);
const saved: string[] = [];
let failure: { code?: string; message: string } | undefined;
while (failure === undefined) {
  try {
    saved.push(session.appendMessage(user("x".repeat(700))));
  } catch (error) {
    failure = error as { code?: string; message: string };
  }
}
const report = {
  saved,
  leaf: session.getLeafId(),
  path: session.getSessionFile(),
  code: failure.code,
  message: failure.message,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
for await (const _ of process.stdin);
try {
  process.stdout.write(`${JSON.stringify(session.appendMessage(user("after")))}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify((error as Error).message)}\n`);
}
