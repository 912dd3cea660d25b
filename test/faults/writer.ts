/**
 * A program for fault tests: writes a session as it is ordered, and says on standard output, one line each:
 *
 *     file <path>               the session's file, whenever it is another
 *     ack <n> <id>              message n was appended (and, where ordered, flushed); this is what must not be lost
 *     error <n> <code> <text>   it was not
 *     end <leaf> <length>       nothing more will come: the leaf, and the entries on its path
 *
 * The order is JSON in the first argument.
 */
import { createInterface } from "node:readline";
import { statSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SessionManager } from "../../src/session/session-manager.ts";
import { user } from "../support/session-files.ts";
import { textOf } from "./written-text.ts";
import type { Order } from "./written-text.ts";

const order = JSON.parse(process.argv[2]!) as Order;
const commands = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (...words: unknown[]): void => void writeSync(1, `${words.join(" ")}\n`);

let session = statSync(order.place).isDirectory()
  ? SessionManager.create("/w", order.place)
  : await SessionManager.open(order.place);
say("file", session.getSessionFile());

/** The id of the appended message, or undefined when an error was told. */
async function append(n: number): Promise<string | undefined> {
  try {
    const id = session.appendMessage(user(textOf(order, n)));
    if (order.flush === true) await session.flush();
    say("ack", n, id);
    return id;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    say("error", n, code ?? "none", message);
    return undefined;
  }
}

let failed = 0;
let { count } = order;
for (let n = 0; n < count && (order.onError !== "stop" || failed === 0); n++) {
  if (order.newSessionEvery !== undefined && n > 0 && n % order.newSessionEvery === 0) {
    await session.close();
    session = SessionManager.create("/w", order.place);
    say("file", session.getSessionFile());
  }
  if ((await append(n)) === undefined) {
    failed++;
    if (order.onError === "retry") await append(n);
    if (order.onError === "wait") {
      // A second try, while nothing has changed, must fail as clearly as the first.
      await append(n);
      await commands.next();
      count = Math.min(count, n + (order.countAfterWait ?? count));
      n--;
    }
  }
  if (order.pause !== undefined) await sleep(order.pause);
}
say("end", session.getLeafId(), session.getBranch().length);
process.exit(failed > 0 && order.onError === "stop" ? 1 : 0);
