/** SIGKILL at every moment of a turn: what the screen had acknowledged is there after reopening. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { trackSession } from "../support/laws.ts";
import { callTools, say, startProvider } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

const CHILD = join(import.meta.dirname, "../support/agent-child.ts");
const ACKNOWLEDGED = ["prompt", "answer toolUse", "result a", "result b", "answer stop", "settled"];

/** Runs the program until it has acknowledged `count` things, kills it, and gives all it had said by then. */
async function killedAfter(count: number, baseUrl: string, sessionDir: string): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, baseUrl, temporaryFolder(), sessionDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    if (said.split("\n").length > count) child.kill("SIGKILL");
  });
  await closed;
  return said.split("\n").filter((line) => line !== "");
}

/** What the child acknowledges for an entry. */
function acknowledgement(entry: SessionEntry): string | undefined {
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  if (message.role === "user") return "prompt";
  if (message.role === "toolResult") return `result ${message.toolCallId}`;
  return message.role === "assistant" ? `answer ${message.stopReason}` : undefined;
}

test("[W1, W2] whatever was acknowledged before a SIGKILL is there after reopening", async (t) => {
  const moments = ACKNOWLEDGED.map((_, n) => n + 1);
  await Promise.all(
    moments.map(async (count) => {
      const server = await startProvider([
        callTools(
          { id: "a", name: "echo", arguments: { text: "1" } },
          { id: "b", name: "echo", arguments: { text: "2" } },
        ),
        say("Done"),
      ]);
      t.after(() => server.close());
      const dir = temporaryFolder();
      const said = await killedAfter(count, server.baseUrl, dir);
      assert.deepEqual(said, ACKNOWLEDGED.slice(0, said.length));
      assert.equal(said.length >= count, true);
      const [file] = readdirSync(dir);
      const manager = trackSession(t, await SessionManager.open(join(dir, file!)));
      const kept = manager.getBranch().flatMap((entry) => acknowledgement(entry) ?? []);
      const owed = said.filter((line) => line !== "settled");
      assert.deepEqual(kept.slice(0, owed.length), owed, `killed after ${said.at(-1)}`);
      assert.deepEqual(manager.getProblems(), []);
    }),
  );
});
