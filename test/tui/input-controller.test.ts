/** Key presses in time: what counts as a double press. The clock is the test's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputController, type InputScreen } from "../../src/tui/input-controller.ts";

/** A screen on which nothing runs and the editor is empty; says what was asked of it. */
function emptyScreen(): { controller: InputController; asked: string[]; clock: { now: number } } {
  const asked: string[] = [];
  const clock = { now: 0 };
  const editor = {
    isBlank: true,
    isBashDraft: false,
    getText: () => "",
    getExpandedText: () => "",
    setText: () => undefined,
    addToHistory: () => undefined,
  };
  const session = { isStreaming: false, isBashRunning: false, isIdle: true };
  const screen = {
    editor,
    session,
    now: () => clock.now,
    doubleEscape: () => asked.push("double escape"),
    quit: () => asked.push("quit"),
    setStatus: (text: string) => asked.push(text),
  };
  // Only what these keys reach is there: anything else fails the test by a TypeError.
  return { controller: new InputController(screen as unknown as InputScreen), asked, clock };
}

test("[B1] two Escapes within 500 ms are a double press, the third begins anew", () => {
  const { controller, asked, clock } = emptyScreen();
  for (const [time, expected] of [
    [0, 0],
    [500, 1],
    [600, 1],
    [700, 2],
    [1300, 2],
    [1801, 2],
  ] as const) {
    clock.now = time;
    assert.equal(controller.runAction("app.interrupt"), true);
    assert.equal(asked.length, expected, `after the press at ${time} ms`);
  }
});

test("[U4] two presses of the clear key within 500 ms leave, slower ones do not", () => {
  const { controller, asked, clock } = emptyScreen();
  for (const time of [0, 501, 1001]) {
    clock.now = time;
    controller.runAction("app.clear");
  }
  assert.deepEqual(asked, ["Press it again to quit.", "Press it again to quit.", "quit"]);
});
