/** Whatever happens to a session, each message of an extension is delivered once: a driver that goes wild, and crashes. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import fc from "fast-check";
import { AgentSession } from "../../src/agent/agent-session.ts";
import type { CustomMessageOptions } from "../../src/agent/delivery.ts";
import { QueueFile } from "../../src/agent/queue-file.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import { noticesOf, startHarness, tool } from "../support/agent-harness.ts";
import type { Harness } from "../support/agent-harness.ts";
import { callTools, fail, say } from "../support/provider-mock.ts";
import type { Reply } from "../support/provider-mock.ts";
import { temporaryFolder } from "../support/session-files.ts";

function stateFolder(t: TestContext): string {
  const before = process.env["BOUGH_DIR"];
  const state = join(temporaryFolder(), "state");
  process.env["BOUGH_DIR"] = state;
  t.after(() => {
    process.env["BOUGH_DIR"] = before;
  });
  return state;
}

/** How often each text was delivered, in the order in which they came. */
function counts(manager: SessionManager): Map<string, number> {
  const found = new Map<string, number>();
  for (const entry of manager.getEntries()) {
    if (entry.type !== "custom_message") continue;
    const text = textOf(entry.content);
    found.set(text, (found.get(text) ?? 0) + 1);
  }
  return found;
}

/** Goes on in the session's file as a new program does after a crash of the one before. */
async function restarted({ manager, registry, model }: Harness): Promise<AgentSession> {
  await manager.close();
  const again = await SessionManager.open(manager.getSessionFile()!);
  return new AgentSession({ sessionManager: again, registry, model, tools: () => [tool("echo", () => "x")] });
}

type Step =
  | { do: "send"; options: CustomMessageOptions }
  | { do: "prompt" | "compact" | "abort" | "jump" | "wait" }
  | { do: "crash" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      options: fc.record(
        {
          triggerTurn: fc.boolean(),
          deliverAs: fc.constantFrom("steer" as const, "followUp" as const, "nextTurn" as const),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("prompt", "compact", "abort", "jump", "wait") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
) as fc.Arbitrary<Step>;

test("[X1] over turns, jumps, compactions, aborts and crashes each message is delivered once, none twice", async (t) => {
  stateFolder(t);
  const replies: Reply[] = Array.from({ length: 400 }, (_, n) =>
    n % 3 === 0
      ? callTools({ id: `c${n}`, name: "echo", arguments: {} })
      : n % 7 === 3
        ? fail(503, "busy")
        : say(`a${n}`),
  );
  const delivered = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
    const harness = await startHarness(t, { replies, tools: () => [tool("echo", () => "x")] });
    const { manager } = harness;
    let { session } = harness;
    const sent: string[] = [];
    const background: Promise<unknown>[] = [];
    const begin = (work: Promise<unknown>): void => void background.push(work.catch(() => undefined));
    await session.prompt("Begin");
    for (const one of steps) {
      if (one.do === "send") {
        sent.push(`m${sent.length}`);
        begin(session.sendCustomMessage({ customType: "t", content: sent.at(-1)!, display: true }, one.options));
      } else if (one.do === "prompt") begin(session.prompt("More"));
      else if (one.do === "compact") begin(session.compact({ digest: true }));
      else if (one.do === "abort") await session.abort();
      else if (one.do === "jump") {
        const prompts = session.getUserMessages();
        begin(session.navigateTree(prompts[sent.length % prompts.length]!.entryId, { abort: true }));
      } else if (one.do === "wait") await session.waitForIdle();
      else {
        await session.abort();
        await session.waitForIdle();
        await Promise.all(background.splice(0));
        await session.waitForIdle();
        session = new AgentSession({ ...harness, sessionManager: manager, tools: () => [tool("echo", () => "x")] });
      }
    }
    await Promise.all(background);
    await session.waitForIdle();
    // What is held goes with the prompts that come.
    for (let n = 0; session.hasPendingMessages && n < 50; n++) await session.prompt("Rest").catch(() => undefined);
    await session.dispose();
    assert.deepEqual(counts(manager), new Map([...counts(manager).keys()].map((text) => [text, 1])));
    assert.deepEqual([...counts(manager).keys()].sort(), [...sent].sort());
  });
  await fc.assert(delivered, { numRuns: 12 });
});

test("[X1] after a crash held messages are there again with kind, id and details, and go with the next prompt", async (t) => {
  const state = stateFolder(t);
  const first = await startHarness(t, { replies: [say("one"), say("two")] });
  await first.session.prompt("Go");
  const held = { customType: "note", content: "held", display: false, details: { n: [1] } };
  await first.session.sendCustomMessage(held, { deliverAs: "nextTurn" });
  first.session.steer("typed");
  const [file] = readdirSync(join(state, "queues"));
  assert.deepEqual(JSON.parse(readFileSync(join(state, "queues", file!), "utf8")), [
    { id: "queued-1", kind: "nextTurn", custom: held },
    { kind: "steer", text: "typed" },
  ]);
  const session = await restarted(first);
  assert.deepEqual([session.takeUnsent(), session.hasPendingMessages], [[{ text: "typed" }], true]);
  await session.prompt("Next");
  const [entry] = session.sessionManager.getEntries().filter(({ type }) => type === "custom_message");
  assert.ok(entry?.type === "custom_message");
  assert.deepEqual([entry.content, entry.display, entry.details], ["held", false, { n: [1] }]);
  assert.deepEqual(readdirSync(join(state, "queues")), []);
  await session.dispose();
});

for (const arrived of [true, false])
  test(`[X1] a crash ${arrived ? "right after" : "right before"} a message was written: it is there once`, async (t) => {
    const state = stateFolder(t);
    const first = await startHarness(t, { replies: [say("one"), say("two"), say("three")] });
    await first.session.prompt("Go");
    const twice = { customType: "note", content: "same", display: true };
    // One of the same text that has come before does not count as this one.
    await first.session.sendCustomMessage(twice);
    await first.session.sendCustomMessage(twice, { deliverAs: "nextTurn" });
    const queue = join(state, "queues", readdirSync(join(state, "queues"))[0]!);
    let left = "";
    const append = first.manager.appendCustomMessageEntry.bind(first.manager);
    t.mock.method(first.manager, "appendCustomMessageEntry", (...given: Parameters<typeof append>) => {
      left = readFileSync(queue, "utf8");
      if (!arrived) throw new Error("the program is gone");
      return append(...given);
    });
    await first.session.prompt("Next").catch(() => undefined);
    await first.manager.close();
    // As the program that was killed left it.
    writeFileSync(queue, left);
    const again = await SessionManager.open(first.manager.getSessionFile()!);
    const session = new AgentSession({ sessionManager: again, registry: first.registry, model: first.model });
    assert.equal(session.hasPendingMessages, !arrived);
    await session.prompt("After");
    assert.deepEqual(counts(session.sessionManager), new Map([["same", 2]]));
    await session.dispose();
    assert.deepEqual(noticesOf(first.events), []);
  });

test("[X1] a flood of held messages is kept, sent once, and costs one writing of the file for all of it", async (t) => {
  const state = stateFolder(t);
  const first = await startHarness(t, { replies: say("ok") });
  await first.session.prompt("Go");
  const writings = t.mock.method(QueueFile.prototype, "keep");
  for (let n = 0; n < 1_000; n++)
    await first.session.sendCustomMessage(
      { customType: "t", content: `m${n}`, display: false },
      { deliverAs: "nextTurn" },
    );
  await new Promise(setImmediate);
  assert.ok(writings.mock.callCount() < 40, String(writings.mock.callCount()));
  const session = await restarted(first);
  await session.prompt("Next");
  assert.equal(counts(session.sessionManager).size, 1_000);
  assert.deepEqual(new Set(counts(session.sessionManager).values()), new Set([1]));
  await session.dispose();
  assert.deepEqual(readdirSync(join(state, "queues")), []);
});
