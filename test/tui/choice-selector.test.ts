/** Tests of src/tui/choice-selector.ts: a question with a few answers. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { ChoiceSelector } from "../../src/tui/choice-selector.ts";
import { inert, KEYS, lines, press, testScreen } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

function question(text = "What was written stays. Everything else waits for you.") {
  const answers: string[] = [];
  const component = new ChoiceSelector({
    screen: testScreen(),
    title: "Stop the agent?",
    text,
    choices: [
      { label: "Yes", value: "yes" },
      { label: "No", value: "no" },
    ],
    onSelect: (value) => answers.push(value),
    onCancel: () => answers.push("cancel"),
  });
  return { component, answers };
}

test("[N3] the whole screen: title, hints, the text wrapped, the answers", () => {
  deepEqual(lines(question().component, 40), [
    "",
    "─".repeat(40),
    "  Stop the agent?",
    "  Enter: choose · Escape: back",
    "─".repeat(40),
    "",
    "  What was written stays. Everything",
    "  else waits for you.",
    "",
    "› Yes",
    "  No",
    "",
    "─".repeat(40),
  ]);
  deepEqual(lines(question("").component, 40).slice(6, 8), ["› Yes", "  No"]);
});

test("[N3] arrows wrap, Enter answers, Escape and Ctrl+C go back, other keys do nothing", () => {
  const after = (...keys: KeyName[]): string[] => {
    const { component, answers } = question();
    press(component, ...keys);
    return answers;
  };
  deepEqual(
    [
      after("enter"),
      after("down", "enter"),
      after("up", "enter"),
      after("down", "down", "enter"),
      after("escape"),
      after("ctrlC"),
    ],
    [["yes"], ["no"], ["no"], ["yes"], ["cancel"], ["cancel"]],
  );
  const quiet = (Object.keys(KEYS) as KeyName[]).filter((key) => !["enter", "escape", "ctrlC"].includes(key));
  deepEqual(after(...quiet), []);
});

test("[U5] every width from 1 to 120", () => {
  for (let width = 1; width <= 120; width++) inert(question("漢字 ".repeat(40)).component, width);
});
