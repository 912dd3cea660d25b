/** Tests of src/tui/model-picker.ts: the list behind /model. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { ModelPicker } from "../../src/tui/model-picker.ts";
import { body, inert, KEYS, lines, press, testScreen, type } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

const MODELS = [
  { provider: "anthropic", id: "claude-opus-5", name: "Claude Opus 5" },
  { provider: "openai", id: "gpt-6", name: "gpt-6" },
  { provider: "openrouter", id: "anthropic/claude-opus-5", name: "" },
  { provider: "ollama", id: "qwen3:8b", name: "Qwen 3 8B" },
];

function picker(models = MODELS, query = "") {
  const events: string[] = [];
  const component = new ModelPicker({
    screen: testScreen(),
    models,
    current: { provider: "openai", id: "gpt-6", name: "" },
    query,
    onSelect: (model) => events.push(`${model.provider}/${model.id}`),
    onCancel: () => events.push("cancel"),
  });
  return { component, events };
}

test("[U4] the whole screen, the current model marked and selected", () => {
  deepEqual(lines(picker().component, 60), [
    "",
    "─".repeat(60),
    "  Choose a model",
    "  type to search · Enter: use it from here on",
    "  Escape: cancel",
    "  Search:",
    "─".repeat(60),
    "",
    "  claude-opus-5 [anthropic] Claude Opus 5",
    "› gpt-6 [openai] ✓ current",
    "  anthropic/claude-opus-5 [openrouter]",
    "  qwen3:8b [ollama] Qwen 3 8B",
    "  (2/4)",
    "",
    "─".repeat(60),
  ]);
});

test("[U4] a few letters find a model, Backspace takes them back, Escape empties the search before it closes", () => {
  const { component, events } = picker();
  type(component, "opus open");
  deepEqual(body(component), ["› anthropic/claude-opus-5 [openrouter]", "  (1/1)"]);
  press(component, "enter");
  deepEqual(events, ["openrouter/anthropic/claude-opus-5"]);
  type(component, "zzz");
  deepEqual(body(component), ['  No model matches "opus openzzz"', "  (0/0)"]);
  press(component, "enter", "backspace", "backspace", "backspace");
  deepEqual(body(component), ["› anthropic/claude-opus-5 [openrouter]", "  (1/1)"]);
  press(component, "escape");
  equal(body(component).length, 5);
  deepEqual(events, ["openrouter/anthropic/claude-opus-5"]);
  press(component, "escape");
  deepEqual(events, ["openrouter/anthropic/claude-opus-5", "cancel"]);
  type(component, "q");
  press(component, "ctrlC");
  deepEqual(events.slice(1), ["cancel", "cancel"]);
});

test("[U4] the search may start with what the user typed after /model", () => {
  deepEqual(body(picker(MODELS, "qwen").component), ["› qwen3:8b [ollama] Qwen 3 8B", "  (1/1)"]);
});

test("[U4] without models the list says how to get one, and every key is harmless", () => {
  const { component, events } = picker([]);
  deepEqual(body(component, 100), [
    "  No model yet: set an API key, start a local server, or give --base-url",
    "  (0/0)",
  ]);
  press(component, ...(Object.keys(KEYS) as KeyName[]).filter((key) => key !== "escape" && key !== "ctrlC"));
  deepEqual(events, []);
});

test("[U5] any width, a hostile name and a pasted query never break a line", () => {
  const { component } = picker([{ provider: "\x1b[31mx", id: "漢\x9b2J", name: "\u202Ename" }, ...MODELS]);
  component.handleInput(`\x1b[200~${"漢字 \x1b[2J\n".repeat(200)}\x1b[201~`);
  for (let width = 1; width <= 120; width++) inert(component, width);
  press(component, "escape");
  for (let width = 1; width <= 120; width++) inert(component, width);
  equal(body(component)[0], "› 漢 [x] ⟦U+202E⟧name");
});
