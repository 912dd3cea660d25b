/** Text that comes letter by letter and all at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRead } from "node:timers/promises";
import { TypedBurst } from "../../src/tui/typed-burst.ts";
import { say } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";

function burst(): { typed: TypedBurst; taken: string[] } {
  const taken: string[] = [];
  const typed = new TypedBurst({
    key: (data) => taken.push(data),
    paste: (text) => taken.push(`paste ${text.length}`),
  });
  return { typed, taken };
}

test("[U4] what is typed comes key by key when its read is over, or before a key that is no text", async () => {
  const { typed, taken } = burst();
  for (const key of ["a", "🙂".charAt(0), "🙂".charAt(1), "\n", "\t", "é"]) assert.equal(typed.hold(key), true);
  assert.deepEqual(taken, []);
  await nextRead();
  assert.deepEqual(taken, ["a", "\ud83d", "\ude42", "\n", "\t", "é"]);
  for (const key of ["\n", "\t", "\r", "\x7f", "\x9b", "\x1b", "\x1b[A", "ab", ""])
    assert.equal(typed.hold(key), false, JSON.stringify(key));
  typed.hold("b");
  typed.flush();
  assert.deepEqual(taken.splice(0).at(-1), "b");
  await nextRead();
  assert.deepEqual(taken, []);
});

test("[U4] more than anybody types between two reads is one paste, however many reads it takes", async () => {
  const { typed, taken } = burst();
  for (let read = 0; read < 20; read++) {
    for (let n = 0; n < 1000; n++) typed.hold("x");
    await nextRead();
  }
  assert.deepEqual(taken, []);
  while (taken.length === 0) await nextRead();
  assert.deepEqual(taken, ["paste 20000"]);
  typed.hold("y");
  await nextRead();
  assert.deepEqual(taken, ["paste 20000", "y"]);
});

test("[U4] a long paste that the terminal does not mark is in the prompt as it was", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: say("read") });
  await see("0.0.0");
  const text = "lorem ipsum 🙂 dolor\tsit\n".repeat(2000);
  for (const unit of `Look: ${text}`.split("")) terminal.type(unit);
  await see("[paste #1 +");
  terminal.type("\r");
  await see("read");
  const [prompt] = session.messages;
  // Tabs are four spaces in the editor, as in a marked paste.
  const expected = `Look: ${text.replaceAll("\t", "    ").trim()}`;
  assert.deepEqual(prompt?.role === "user" ? prompt.content : undefined, [{ type: "text", text: expected }]);
});
