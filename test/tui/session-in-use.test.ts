/** The question about a session that another bough writes. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { inUseQuestion, type OtherBough } from "../../src/tui/session-in-use.ts";

const nothing = (): void => {};
const textFor = (other: OtherBough): string =>
  inUseQuestion(other, { follow: nothing, copy: nothing, handOver: nothing, cancel: nothing }).text ?? "";

test("[W5] the question says who writes the session and since when, and what others wrote there drives no terminal", () => {
  deepEqual(
    [
      textFor({}),
      textFor({ pid: 7, host: "desk", since: "2026-11-30T23:55:03.666Z" }),
      textFor({ pid: 7, host: "a\u001b[31mb\nc", since: "\u001b[2J noon" }),
      textFor({ pid: 7 }),
    ],
    [
      "Only one at a time can write a session.",
      "Only one at a time can write a session. It is process 7 on desk, since 2026-11-30 23:55 UTC.",
      "Only one at a time can write a session. It is process 7 on ab c, since noon.",
      "Only one at a time can write a session. It is process 7 on ?, since ?.",
    ],
  );
});
