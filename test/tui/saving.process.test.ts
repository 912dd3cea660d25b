/** A session that cannot be saved, on the screen. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { watchDisk } from "../support/disk-faults.ts";
import { say } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";

const ENTER = "\r";

test("[W4, U4] unsaved entries are counted in the footer; /save-as saves all of them elsewhere", async (t) => {
  const disk = watchDisk(t);
  const { terminal, see, seeNo, manager, dir, finished } = await startInteractive(t, {
    unsaved: true,
    goesOnUnsaved: true,
    replies: [say("fine"), say("still here")],
    columns: 200,
  });
  terminal.type(..."Hi", ENTER);
  await see("fine");
  disk.writeFault = { code: "ENOSPC" };
  terminal.type(..."More", ENTER);
  await see("still here");
  await see("This session cannot be saved: the disk is full (ENOSPC).");
  await see("2 unsaved");
  disk.writeFault = undefined;
  terminal.type(..."/save-as", ENTER);
  await see("Usage: /save-as <path>");
  terminal.type(..."/save-as elsewhere.jsonl", ENTER);
  await see(`This session is now in ${join(dir, "elsewhere.jsonl")}`);
  await seeNo("unsaved");
  assert.deepEqual([manager.getSessionFile(), manager.getUnsavedCount()], [join(dir, "elsewhere.jsonl"), 0]);
  terminal.type("\x03", "\x03");
  assert.equal(await finished, 0);
});

test("[W4] leaving with something unsaved gives exit code 1 and the reason", async (t) => {
  const disk = watchDisk(t);
  const { terminal, see, finished } = await startInteractive(t, {
    unsaved: true,
    goesOnUnsaved: true,
    replies: say("fine"),
    columns: 200,
  });
  disk.writeFault = { code: "ENOSPC" };
  disk.openFault = { code: "ENOSPC" };
  terminal.type(..."Hi", ENTER);
  await see("fine");
  terminal.type("\x03", "\x03");
  assert.equal(await finished, 1);
  await see("Not everything of this session could be saved");
  disk.writeFault = disk.openFault = undefined;
});
