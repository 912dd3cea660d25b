import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { contentOf, temporaryFolder, user } from "../support/session-files.ts";

const PROGRAM = fileURLToPath(new URL("../support/append-until-full.ts", import.meta.url));

test("[W1, W3] dB69 FT4 at the limit of the disk nothing confirmed is lost, and the next entry is readable", async () => {
  // The shell's limit is the kernel's: it cuts the write that crosses it and refuses the next.
  const child = spawn("sh", ["-c", 'ulimit -f 20; exec "$0" "$@"', process.execPath, PROGRAM, temporaryFolder()], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const report = JSON.parse((await lines.next()).value as string) as {
    saved: string[];
    leaf: string;
    path: string;
    code: string;
    message: string;
  };
  child.stdin.end();
  const second = JSON.parse((await lines.next()).value as string) as string;
  await once(child, "close");
  assert.ok(report.saved.length > 5);
  const reason = "the file would be larger than allowed (EFBIG)";
  const message = `Cannot write to ${report.path}: ${reason}; the entry was not saved, so remove the cause and try again.`;
  assert.deepEqual([report.code, report.message, second], ["write-failed", message, message]);
  assert.equal(report.leaf, report.saved.at(-1));
  assert.notEqual(contentOf(report.path).at(-1), "\n");

  const session = await SessionManager.open(report.path);
  assert.deepEqual(
    session.getBranch().map((entry) => entry.id),
    report.saved,
  );
  const next = session.appendMessage(user("there is room again"));
  const again = await SessionManager.open(report.path, { readOnly: true });
  assert.deepEqual(
    again.getBranch().map((entry) => entry.id),
    [...report.saved, next],
  );
  assert.deepEqual(
    again.getProblems().map(({ code }) => code),
    ["bad-line"],
  );
});
