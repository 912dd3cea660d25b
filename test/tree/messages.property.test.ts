/** [C3] For any messages at all the request is valid, whatever the model. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { textOf } from "../../src/tree/content.ts";
import { convertToLlm, type AgentMessage, type RequestModel } from "../../src/tree/messages.ts";
import { requestFaults } from "../support/valid-request.ts";
import { hostileMessage } from "./hostile-messages.ts";
import { CLAUDE, GPT } from "./message-fixtures.ts";

const models: (RequestModel | undefined)[] = [
  undefined,
  CLAUDE,
  GPT,
  { ...CLAUDE, input: ["text"], compat: { supportsMidConvoSystemMessages: true } },
  { provider: "local", id: "m", api: "openai-completions" },
];

it("[C3] any array of anything becomes a valid request, is not changed by it, and says what was changed", () => {
  fc.assert(
    fc.property(fc.array(hostileMessage, { maxLength: 12 }), fc.constantFrom(...models), (messages, model) => {
      const before = structuredCloneOf(messages);
      const repaired = new Set<number>();
      const list = convertToLlm(messages as AgentMessage[], {
        model,
        onRepair: ({ index, text }) => {
          assert.ok(text.length > 0 && index >= 0 && index < messages.length);
          repaired.add(index);
        },
      });
      assert.deepEqual(requestFaults(list), []);
      assert.deepEqual(messages, before);
      // Nothing the user or a tool said is changed or left out in silence.
      const texts = new Set(list.map(({ content }) => textOf(content)));
      messages.forEach((source, index) => {
        const { role, content } = (source ?? {}) as { role?: unknown; content?: unknown };
        if (role === "user" || role === "toolResult") assert.ok(repaired.has(index) || texts.has(textOf(content)));
      });
    }),
    { numRuns: 1_000 },
  );
});

it("[C3] a valid request is a fixed point: converting it again changes and reports nothing", () => {
  fc.assert(
    fc.property(fc.array(hostileMessage, { maxLength: 10 }), fc.constantFrom(...models), (messages, model) => {
      const once = convertToLlm(messages as AgentMessage[], { model });
      const twice = convertToLlm(once, { model, onRepair: ({ text }) => assert.fail(text) });
      assert.deepEqual(twice, once);
    }),
    { numRuns: 300 },
  );
});

it("[C3] what was sent stays sent the same when the conversation goes on, so that prompt caches hold", () => {
  fc.assert(
    fc.property(fc.array(hostileMessage, { maxLength: 10 }), fc.constantFrom(...models), (messages, model) => {
      const list = [
        ...messages,
        { role: "user", content: "go on", timestamp: 1 },
        { role: "compactionSummary", summary: "s" },
      ];
      const before = convertToLlm(messages as AgentMessage[], { model });
      const after = convertToLlm(list as AgentMessage[], { model });
      assert.deepEqual(after.slice(0, before.length), before);
    }),
    { numRuns: 300 },
  );
});

/** A copy that keeps functions and symbols, which structuredClone refuses: only containers are copied. */
function structuredCloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCloneOf);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = Object.create(prototype as object | null) as object;
  for (const [key, inner] of Object.entries(value))
    Object.defineProperty(copy, key, {
      value: structuredCloneOf(inner),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return copy;
}
