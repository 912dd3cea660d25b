/** Prompts that were queued when the program ended, on the screen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { ImageContent } from "../../src/tree/messages.ts";
import { startHarness } from "../support/agent-harness.ts";
import { hangAfter, say } from "../support/provider-mock.ts";
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

test("[W2, N4] images of queued messages go with the next prompt: after a crash and after Escape", async (t) => {
  const image: ImageContent = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
  const first = await startHarness(t, { replies: say("one") });
  await first.session.prompt("First");
  first.session.steer("", [image]);
  await first.manager.close();
  const manager = await SessionManager.open(first.manager.getSessionFile()!);
  const { terminal, see, session } = await startInteractive(t, {
    manager,
    replies: [hangAfter("working"), say("seen")],
  });
  await see("An image goes with the next prompt.");
  terminal.type("look", "\r");
  await see("working");
  session.followUp("and this", [image, image]);
  await see("and this");
  terminal.type("\x1b");
  await see("2 images go with the next prompt.");
  terminal.type("\r");
  await see("seen");
  const prompts = session.messages.flatMap((message) => (message.role === "user" ? [message.content] : []));
  assert.deepEqual(prompts.slice(1), [
    [{ type: "text", text: "look" }, image],
    [{ type: "text", text: "and this" }, image, image],
  ]);
});
