/** Tests of src/tui/session-query.ts: which sessions a query finds, and their order. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { SessionInfo } from "../../src/session/catalog.ts";
import { ageOf, matchesSession, orderSessions, parseSessionQuery } from "../../src/tui/session-query.ts";
import type { SessionOrder } from "../../src/tui/session-query.ts";
import { sessionInfo } from "./session-info.ts";

const found = (sessions: SessionInfo[], query: string): string[] =>
  sessions.filter((session) => matchesSession(session, parseSessionQuery(query))).map(({ id }) => id);

test("[U4] every word and every quoted phrase must occur, in name, first prompt, folder or id", () => {
  const sessions = [
    sessionInfo("a", { name: "Fix the parser", firstMessage: "it drops tokens" }),
    sessionInfo("b", { firstMessage: "fix the tokens of the parser" }),
    sessionInfo("c", { cwd: "/home/me/parser", firstMessage: "hello" }),
  ];
  deepEqual(
    [
      found(sessions, ""),
      found(sessions, "PARSER fix"),
      found(sessions, '"fix the"'),
      found(sessions, '"the parser" tokens'),
      found(sessions, '"fix the parser'),
      found(sessions, "parser -nothing"),
      found(sessions, "c"),
      found(sessions, '""'),
    ],
    [["a", "b", "c"], ["a", "b"], ["a", "b"], ["a", "b"], ["a"], [], ["c"], ["a", "b", "c"]],
  );
});

test("[U4] re: takes the rest as a regular expression; a broken one finds nothing and says so", () => {
  const sessions = [sessionInfo("a", { firstMessage: "Ticket 123" }), sessionInfo("b", { firstMessage: "ticket x" })];
  deepEqual(found(sessions, "re:ticket \\d+"), ["a"]);
  deepEqual(found(sessions, "re:("), []);
  deepEqual(parseSessionQuery("re:("), { kind: "broken", text: '"(" is not a regular expression' });
});

const arranged = (sessions: SessionInfo[], order: SessionOrder, query = ""): string[] =>
  orderSessions(sessions, order, parseSessionQuery(query)).map(({ session, depth }) => "  ".repeat(depth) + session.id);

test("[D2] the order is by content time, the newest first; examples come last", () => {
  const sessions = [
    sessionInfo("old", { modified: new Date(1000) }),
    sessionInfo("example", { modified: new Date(9000), isExample: true }),
    sessionInfo("new", { modified: new Date(3000) }),
    sessionInfo("none", { modified: new Date(0) }),
  ];
  for (const order of ["recent", "threaded", "relevance"] as const)
    deepEqual(arranged(sessions, order), ["new", "old", "none", "example"]);
});

test("[U4] threads: a session under the one it came from, by path or id, the thread with the newest first", () => {
  const sessions = [
    sessionInfo("root", { modified: new Date(1000) }),
    sessionInfo("other", { modified: new Date(5000) }),
    sessionInfo("child", { modified: new Date(2000), parentSession: "/sessions/root.jsonl" }),
    sessionInfo("grandchild", { modified: new Date(9000), parentSession: "child" }),
    sessionInfo("child2", { modified: new Date(3000), parentSession: "root" }),
    sessionInfo("orphan", { modified: new Date(4000), parentSession: "/gone.jsonl" }),
  ];
  deepEqual(arranged(sessions, "threaded"), ["root", "  child2", "  child", "    grandchild", "other", "orphan"]);
});

test("[U4] sessions that name each other, or themselves, as parents are all listed once", () => {
  const sessions = [
    sessionInfo("a", { modified: new Date(1000), parentSession: "b" }),
    sessionInfo("b", { modified: new Date(2000), parentSession: "a" }),
    sessionInfo("self", { modified: new Date(3000), parentSession: "self" }),
    sessionInfo("__proto__", { modified: new Date(500), parentSession: "constructor" }),
  ];
  deepEqual(arranged(sessions, "threaded"), ["self", "a", "  b", "__proto__"]);
});

test("[U4] relevance: the whole name, then words in the name, then in the first prompt, then elsewhere", () => {
  const sessions = [
    sessionInfo("folder", { cwd: "/src/parser", modified: new Date(9000) }),
    sessionInfo("prompt", { firstMessage: "the parser", modified: new Date(8000) }),
    sessionInfo("part", { name: "parser work", modified: new Date(7000) }),
    sessionInfo("whole", { name: "Parser", modified: new Date(1000) }),
  ];
  deepEqual(arranged(sessions, "relevance", "parser"), ["whole", "part", "prompt", "folder"]);
  deepEqual(arranged(sessions, "relevance", "re:pars.r"), ["part", "whole", "prompt", "folder"]);
});

test("[U4] a chain of 100,000 sessions is threaded without recursion", () => {
  const sessions = Array.from({ length: 100_000 }, (_, n) =>
    sessionInfo(`s${n}`, { modified: new Date(n), ...(n === 0 ? {} : { parentSession: `s${n - 1}` }) }),
  );
  const rows = orderSessions(sessions, "threaded", parseSessionQuery(""));
  equal(rows.length, 100_000);
  deepEqual([rows[0]!.session.id, rows.at(-1)!.depth], ["s0", 99_999]);
});

test("[U4] ages in the largest whole unit", () => {
  const now = Date.UTC(2026, 10, 30);
  const day = 86_400_000;
  deepEqual(
    [-5000, 0, 59_999, 60_000, 3_600_000, day - 1, day, 7 * day, 30 * day, 364 * day, 365 * day, 800 * day].map(
      (elapsed) => ageOf(new Date(now - elapsed), now),
    ),
    ["now", "now", "now", "1m", "1h", "23h", "1d", "1w", "1mo", "12mo", "1y", "2y"],
  );
});
