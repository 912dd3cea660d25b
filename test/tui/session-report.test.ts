/** /session on a session with branches: what each of them has cost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentSession } from "../../src/agent/agent-session.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { sessionReport } from "../../src/tui/session-report.ts";
import { trackSession } from "../support/laws.ts";
import { assistant, user } from "../support/session-files.ts";

test("[B2, D5] /session: the branch one stands on first, then the most expensive, each with what is its own", async (t) => {
  const manager = trackSession(t, SessionManager.inMemory("/w"));
  const session = new AgentSession({
    sessionManager: manager,
    registry: await ModelRegistry.load({ environment: {} }),
  });
  t.after(() => session.dispose());
  const start = manager.appendMessage(user("start"));
  manager.appendMessage(assistant("shared"));
  const fork = manager.getLeafId() as string;
  const tips: string[] = [];
  for (let n = 0; n < 7; n++) {
    manager.branch(fork);
    for (let answers = 0; answers <= n; answers++) tips[n] = manager.appendMessage(assistant(`branch ${n}`));
  }
  manager.branch(tips[2] as string);
  manager.appendLabelChange(tips[2] as string, "the *one*");
  const rows = sessionReport(session)
    .split("\n")
    .filter((row) => /ranch/.test(row))
    .map((row) => row.replace(/^- \*\*(.*?):\*\* /, "$1: "));
  const cost = (answers: number): string => `\\$${(answers * 0.75).toFixed(4)}`;
  const branch = (n: number, note = ""): string =>
    `Branch ${tips[n]}${note}: ${cost(n + 2)}, of which ${cost(n + 1)} on no other branch`;
  assert.deepEqual(rows, [
    "Tree: 31 entries, 7 branches",
    branch(2, ' "the \\*one\\*", here'),
    branch(6),
    branch(5),
    branch(4),
    branch(3),
    "More branches: 2; bough stats FILE shows them",
  ]);
  assert.ok(manager.getEntry(start));
});
