/** MCP servers that extensions register: when they are started, and that they end with their extension. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ExtensionHost } from "../../src/extensions/host.ts";
import type { ExtensionAPI } from "../../src/extensions/api.ts";
import { projectTrust } from "../../src/agent/trust.ts";
import { NO_MODELS, extensionHost, inlinePlace } from "../support/extension-harness.ts";
import { temporaryFolder } from "../support/session-files.ts";

const endpoint = (command: string) => ({ kind: "stdio", command, args: [], env: {}, cwd: undefined });

test("[P3, X1] one that is registered at any time is started, replaced and ended", async (t) => {
  let api: ExtensionAPI | undefined;
  const { host, session, told } = await extensionHost(t, {
    inline: [
      (pi) => {
        api = pi;
        pi.registerMcpServer("one", { command: "a" });
      },
    ],
  });
  const pi = api!;
  pi.registerMcpServer("one", { command: "b" });
  pi.unregisterMcpServer("one");
  pi.unregisterMcpServer("never");
  pi.registerMcpServer("two", { command: "c" });
  await host.reload();
  assert.deepEqual(session.sent, [
    ["register", "one", endpoint("a")],
    ["end", "one"],
    ["register", "one", endpoint("b")],
    ["end", "one"],
    ["register", "two", endpoint("c")],
    ["end", "two"],
    ["register", "one", endpoint("a")],
  ]);
  assert.throws(() => pi.registerMcpServer("one", { command: "d" }), /can no longer be used/);
  assert.deepEqual(told, []);
});

test("[P3, X3] what is no server is refused with the reason, and what fails is told", async (t) => {
  const reasons: string[] = [];
  await extensionHost(t, {
    inline: [
      (pi) => {
        for (const entry of [{}, { command: "a", url: "http://b" }, { url: "nowhere" }, { command: 5 }, undefined])
          try {
            pi.registerMcpServer("bad", entry as never);
          } catch (error) {
            reasons.push((error as Error).message);
          }
      },
    ],
  });
  assert.deepEqual(reasons.length, 5);
  assert.equal(reasons[0], "inline:1: mcpServers.bad has neither a command nor a url, so it is left out.");
  assert.match(reasons[2]!, /is no address that begins with http/);
});

test("[P3, X1] one that is registered before there is a session waits for it", async () => {
  const [cwd, stateDir] = [temporaryFolder(), temporaryFolder()];
  const places = [inlinePlace((pi) => pi.registerMcpServer("early", { command: "a" }), 0)];
  const told: string[] = [];
  const host = new ExtensionHost({
    cwd,
    project: projectTrust(cwd, { stateDir }),
    registry: NO_MODELS,
    find: () => ({ places, problems: [] }),
    tell: (_level, text) => told.push(text),
  });
  await host.load();
  const register = (): never => {
    throw new Error("taken");
  };
  host.attach({ mcp: { register } } as never);
  assert.deepEqual(told, ['The extension inline:1 failed at "registerMcpServer": taken']);
  host.dispose();
});
