/** Tests of src/agent/session-state.ts: what holds for the next request follows the leaf. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionManager } from "../../src/session/session-manager.ts";
import { startHarness } from "../support/agent-harness.ts";
import { say } from "../support/provider-mock.ts";

test("[C1, N1] service tier, mode and tool selection are those of the path, after each jump and after reopening", async (t) => {
  const { session, manager } = await startHarness(t, { replies: say("one") });
  await session.prompt("First");
  const before = manager.getLeafId()!;
  const told: string[] = [];
  session.subscribe(({ type }) => {
    if (type.endsWith("_changed")) told.push(type);
  });
  const parts = (): unknown => {
    const { serviceTier, mode, modeData, mcpToolSelection } = session.state;
    return { serviceTier, mode, modeData, mcpToolSelection };
  };
  const nothing = { serviceTier: undefined, mode: "none", modeData: undefined, mcpToolSelection: undefined };
  assert.deepEqual(parts(), nothing);

  session.state.setServiceTier({ openai: "flex" });
  session.state.setMode("plan", { planFilePath: "/plans/a.md" });
  session.state.setMcpToolSelection(["mcp__files__read"]);
  const chosen = {
    serviceTier: { openai: "flex" },
    mode: "plan",
    modeData: { planFilePath: "/plans/a.md" },
    mcpToolSelection: ["mcp__files__read"],
  };
  assert.deepEqual(parts(), chosen);
  const three = ["service_tier_changed", "mode_changed", "tool_selection_changed"];
  assert.deepEqual(told.splice(0), three);

  const after = manager.getLeafId()!;
  await session.navigateTree(before);
  assert.deepEqual(parts(), nothing);
  assert.deepEqual(told.splice(0), [...three, "session_changed"]);

  await session.navigateTree(after);
  assert.deepEqual(parts(), chosen);
  const reopened = await SessionManager.open(manager.getSessionFile()!, { readOnly: true });
  const { serviceTier, mode, modeData, mcpToolSelection } = reopened.buildSessionContext();
  assert.deepEqual({ serviceTier, mode, modeData, mcpToolSelection }, chosen);
});
