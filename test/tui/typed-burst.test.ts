/** Text that comes letter by letter and all at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRead, setTimeout as sleep } from "node:timers/promises";
import { TypedBurst } from "../../src/tui/typed-burst.ts";
import { say } from "../support/provider-mock.ts";
import { startInteractive } from "./interactive-harness.ts";

/** Longer than any frame that may still come. */
const quiet = (): Promise<void> => sleep(100);

function burst(): { typed: TypedBurst; taken: string[] } {
  const taken: string[] = [];
  const typed = new TypedBurst({
    key: (data) => taken.push(data),
    paste: (text) => taken.push(`paste ${text.length}`),
    late: () => taken.push("late"),
  });
  return { typed, taken };
}

test("[U4] what is typed comes key by key when its read is over, or before a key that is no text", async () => {
  const { typed, taken } = burst();
  for (const key of ["a", "🙂".charAt(0), "🙂".charAt(1), "\n", "\t", "é"]) assert.equal(typed.hold(key), true);
  assert.deepEqual(taken, []);
  await nextRead();
  assert.deepEqual(taken, ["a", "\ud83d", "\ude42", "\n", "\t", "é", "late"]);
  for (const key of ["\n", "\t", "\r", "\x7f", "\x9b", "\x1b", "\x1b[A", "ab", ""])
    assert.equal(typed.hold(key), false, JSON.stringify(key));
  typed.hold("b");
  typed.flush();
  assert.deepEqual(taken.splice(0).at(-1), "b");
  await nextRead();
  assert.deepEqual(taken, ["late"]);
});

test("[U4] more than anybody types between two reads is one paste, however many reads it takes", async () => {
  const { typed, taken } = burst();
  for (let read = 0; read < 20; read++) {
    for (let n = 0; n < 1000; n++) typed.hold("x");
    await nextRead();
  }
  assert.deepEqual(taken, []);
  while (taken.length === 0) await nextRead();
  assert.deepEqual(taken, ["paste 20000", "late"]);
  typed.hold("y");
  await nextRead();
  assert.deepEqual(taken, ["paste 20000", "late", "y", "late"]);
});

test("[U4] what is typed is drawn without anything else happening on the screen", async (t) => {
  const { terminal, see, session } = await startInteractive(t, { replies: say("read") });
  await see("0.0.0");
  await session.prompt("Hi");
  await see("read");
  for (const word of ["one ", "two ", "three "]) {
    await quiet();
    terminal.type(...word);
    await see(word.trim());
  }
  await quiet();
  // The frame of the first key is asked for before that of the letters behind it.
  terminal.type("\x1b[D", "x");
  await see("threex");
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
