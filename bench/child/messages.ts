/** Messages to append: 5,000 of them, each about 1.15 KB as a line of a session. */
import type { UserMessage } from "./engine.ts";

const COUNT = 5000;
const TEXT = "The ferry leaves the harbour at noon, and the lantern on the quay is lit until it is back. ".repeat(11);

export function testMessages(): UserMessage[] {
  return Array.from({ length: COUNT }, (_, n) => ({
    role: "user",
    content: [{ type: "text", text: `${n} ${TEXT}` }],
    timestamp: Date.UTC(2026, 2, 3) + n,
  }));
}
