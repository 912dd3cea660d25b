/** Prompts that were queued when the program ended, on the screen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { startHarness } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";

test("[W2, U4] queued prompts of a program that crashed are in the editor on the next open, and sent by Enter alone", async (t) => {
  const first = await startHarness(t, { replies: say("one") });
  await first.session.prompt("First");
  first.session.followUp("never sent");
  await first.manager.close();
  const manager = await SessionManager.open(first.manager.getSessionFile()!);
  const { terminal, see, server } = await startInteractive(t, { manager, replies: say("at last") });
  await see("A queued message of the last run was never sent; it is in the editor.");
  await see("never sent");
  assert.equal(server.requests.length, 0);
  terminal.type("\r");
  await see("at last");
  await see("› never sent");
});
