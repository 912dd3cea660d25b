/** Anything in the place of messages, often enough close to a real conversation to get far. Not a test. */
import fc from "fast-check";
import { CLAUDE, GPT, PNG, USAGE } from "./message-fixtures.ts";

const ROLES = [
  "system",
  "developer",
  "custom",
  "hookMessage",
  "bashExecution",
  "pythonExecution",
  "fileMention",
  "branchSummary",
  "compactionSummary",
  "__proto__",
];
/** Few ids, so that calls and results meet, and ids meet the ones made in their place. */
const id = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>("c1", "c2") },
  { weight: 1, arbitrary: fc.constantFrom<unknown>("c2-2", "c1|fc", "a b", "", "\0", "__proto__", 7, undefined) },
);
const string = fc.oneof(
  fc.constantFrom("", " ", "x", "\0", "\ud83d", "</summary>", "```", '{"type":"reasoning"}', '{"a":1}', "sig"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const anything = fc.oneof(string, fc.anything({ maxDepth: 2, withNullPrototype: true, withBigInt: true }));
/** A sound value nine times in ten. */
const mostly = <T>(sound: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: anything });
const maybe = <T>(sound: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.option(mostly(sound), { nil: undefined });

const text = fc.record({ type: fc.constant("text"), text: mostly(string), textSignature: maybe(string) });
const call = fc.record({
  type: fc.constant("toolCall"),
  id,
  name: mostly(fc.constantFrom("read", "write", "7zip", "a.b", "x".repeat(200))),
  arguments: mostly(fc.dictionary(string, anything)),
  thoughtSignature: maybe(string),
});
const thinking = fc.record({
  type: fc.constantFrom("thinking", "thinking", "redactedThinking"),
  thinking: mostly(string),
  thinkingSignature: maybe(string),
  redacted: maybe(fc.boolean()),
});
const image = fc.record({
  type: fc.constant("image"),
  data: mostly(fc.constantFrom(PNG, "AAAA", "/9j/AAAA")),
  mimeType: mostly(fc.constantFrom("image/png", "image/bmp")),
});
const contentOf = (...blocks: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
  mostly(fc.array(mostly(fc.oneof(...blocks)), { maxLength: 4 }));
const timestamp = mostly(fc.nat());

const user = fc.record({ role: fc.constant("user"), content: fc.oneof(string, contentOf(text, image)), timestamp });
const answer = fc
  .record({
    content: contentOf(text, text, call, call, thinking, image),
    model: mostly(fc.constantFrom(CLAUDE, GPT)),
    stopReason: mostly(fc.constantFrom("stop", "stop", "toolUse", "length", "error", "aborted", "pending", "deferred")),
    usage: mostly(fc.constant(USAGE)),
    timestamp,
  })
  .map(({ model, ...fields }) => {
    const { api, provider, id: modelId } = Object(model) as Record<string, unknown>;
    return { role: "assistant", api, provider, model: modelId, ...fields };
  });
const result = fc.record({
  role: fc.constant("toolResult"),
  toolCallId: id,
  toolName: mostly(fc.constantFrom("read", "write")),
  content: contentOf(text, image),
  isError: mostly(fc.boolean()),
  timestamp,
});
const other = fc.record({
  role: fc.constantFrom(...ROLES),
  content: fc.oneof(string, contentOf(text, image)),
  timestamp,
  summary: mostly(string),
  command: mostly(string),
  code: mostly(string),
  output: mostly(string),
  exitCode: anything,
  files: mostly(fc.array(mostly(fc.record({ path: string, content: anything, image })), { maxLength: 3 })),
  images: maybe(fc.array(image)),
  excludeFromContext: maybe(fc.boolean()),
  sections: maybe(fc.dictionary(string, fc.option(string))),
  toolsAdded: maybe(fc.array(mostly(fc.record({ name: string, description: string, parameters: anything })))),
  toolsRemoved: maybe(fc.array(mostly(fc.record({ name: string })))),
});

export const hostileMessage = fc.oneof(
  { weight: 2, arbitrary: user },
  { weight: 5, arbitrary: answer },
  { weight: 4, arbitrary: result },
  { weight: 3, arbitrary: other },
  { weight: 1, arbitrary: anything },
);
