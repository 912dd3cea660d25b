/** Compaction on the real program: a terminal, a provider over HTTP, files on disk. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { outlineOf, sentMessages } from "../support/agent-harness.ts";
import { Place, connectedTo } from "../support/command.ts";
import { checkLaws } from "../support/laws.ts";
import { KEYS, Program } from "../support/program.ts";
import { callTools, fail, say, startProvider, using } from "../support/provider-mock.ts";
import type { ProviderServer, ReceivedRequest, Reply } from "../support/provider-mock.ts";

const isSummaryRequest = ({ body }: ReceivedRequest): boolean =>
  JSON.stringify(body.messages[0]?.content ?? "").includes("You write summaries");

/** Requests for a summary are answered apart from the conversation. */
async function provider(t: TestContext, ...conversation: Reply[]): Promise<ProviderServer> {
  let asked = 0;
  const server = await startProvider((response, request) => {
    const reply = isSummaryRequest(request) ? say("What came before.") : conversation[asked++];
    return (reply ?? fail(400, "no reply left"))(response, request);
  });
  t.after(() => server.close());
  return server;
}

/** A program that keeps next to nothing when it compacts. */
function open(t: TestContext, place: Place, server: ProviderServer): Program {
  const settings = join(place.stateDir, "settings.json");
  mkdirSync(dirname(settings), { recursive: true });
  writeFileSync(settings, JSON.stringify({ compaction: { keepRecentTokens: 3, reserveTokens: 1_000_000 } }));
  const program = new Program({ args: connectedTo(server), cwd: place.cwd, home: place.home });
  t.after(() => program.stop());
  return program;
}

async function pathAfter(program: Program, place: Place): Promise<string[]> {
  program.send(`/quit${KEYS.enter}`);
  assert.equal((await program.exited).exitCode, 0);
  const session = await SessionManager.open(place.sessionFiles()[0]!, { readOnly: true });
  await checkLaws(session);
  return outlineOf(session.getBranch().filter(({ type }) => type === "message" || type === "compaction"));
}

test("[K1] a turn that grows above the threshold is compacted between two tool calls and goes on", async (t) => {
  const place = new Place();
  writeFileSync(join(place.cwd, "long.txt"), "Look at it again.\n".repeat(1_900));
  const server = await provider(
    t,
    callTools({ id: "a", name: "read", arguments: { path: "long.txt" } }),
    using(1_000_000, callTools({ id: "b", name: "ls", arguments: {} })),
    say("All seen."),
  );
  const program = open(t, place, server);
  await program.waitFor("mock");
  program.send(`Look at it${KEYS.enter}`);
  await program.waitFor("All seen.");
  await program.waitFor("Compacted from");
  assert.deepEqual(
    (await pathAfter(program, place)).map((text) => text.replace(/^(result .):[\s\S]*/, "$1")),
    [
      "user: Look at it",
      "assistant toolUse: [read]",
      "result a",
      "assistant toolUse: [ls]",
      "result b",
      "compaction",
      "assistant stop: All seen.",
    ],
  );
  const [first, ...rest] = sentMessages(server.requests.at(-1));
  assert.ok(first!.includes("What came before."), first);
  assert.equal(rest[0], "assistant [1 calls]");
});

test("[K1, C3] a conversation that no longer fits is compacted and asked again, and the user sees the answer", async (t) => {
  const overflow = fail(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.");
  const server = await provider(t, say("Fine."), overflow, say("Shorter now."));
  const place = new Place();
  const program = open(t, place, server);
  await program.waitFor("mock");
  program.send(`First${KEYS.enter}`);
  await program.waitFor("Fine.");
  program.send(`Second${KEYS.enter}`);
  await program.waitFor("Shorter now.");
  assert.deepEqual(await pathAfter(program, place), [
    "user: First",
    "assistant stop: Fine.",
    "user: Second",
    "assistant error: ",
    "compaction",
    "assistant stop: Shorter now.",
  ]);
  assert.equal(sentMessages(server.requests.at(-1)).at(-1), "user Second");
});
