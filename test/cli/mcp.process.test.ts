/** `bough -p` with MCP servers: their tools are there for the one prompt, nothing of them is left, trust holds. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Place, connectedTo, providerFor } from "../support/command.ts";
import { BAD_SERVER } from "../support/mcp-bad-server.ts";
import { TOOL_SERVER } from "../support/mcp-tool-server.ts";
import { callTools, say } from "../support/provider-mock.ts";

const ANSWERS = [callTools({ id: "c1", name: "mcp__calc__add", arguments: { a: 20, b: 22 } }), say("42")] as const;

function withServers(servers: object, mcpWaitMs: number): Place {
  const place = new Place();
  place.writeSettings({ mcpWaitMs });
  writeFileSync(join(place.stateDir, "mcp.json"), JSON.stringify({ mcpServers: servers }));
  return place;
}

test("[P3, R1] -p waits for a server that is starting, and calls its tool", async (t) => {
  const provider = await providerFor(t, ...ANSWERS);
  const place = withServers({ calc: { command: process.execPath, args: [TOOL_SERVER] } }, 60_000);
  assert.deepEqual(await place.run(["-p", "Add them.", ...connectedTo(provider)]), { code: 0, out: "42\n", err: "" });
  assert.deepEqual(provider.requests[1]?.body.messages.at(-1)?.content, "42");
});

test("[P3, R1] -p answers and ends though a server hangs and another is wrong, and says so", async (t) => {
  const provider = await providerFor(t, say("ok"));
  const hang = { command: process.execPath, args: [BAD_SERVER, "hang"] };
  const place = withServers({ hang, broken: {} }, 50);
  const { code, out, err } = await place.run(["-p", "hi", ...connectedTo(provider)]);
  assert.deepEqual([code, out], [0, "ok\n"]);
  assert.deepEqual(err.trimEnd().split("\n"), [
    `bough: ${place.stateDir}/mcp.json line 1: mcpServers.broken has neither a command nor a url, so it is left out.`,
    'bough: Not ready yet: the MCP server "hang"; the model gets what it offers with a later prompt.',
  ]);
});

test("[P3, X5] a project's servers are not started before the project is trusted", async (t) => {
  const provider = await providerFor(t, say("ok"));
  const place = new Place();
  place.writeSettings({ mcpWaitMs: 60_000 });
  const log = join(place.home, "started");
  mkdirSync(join(place.cwd, ".bough"));
  const server = { command: process.execPath, args: [BAD_SERVER, "chatty", log] };
  place.file(".bough/mcp.json", JSON.stringify({ mcpServers: { bad: server } }));
  const refused = await place.run(["-p", "hi", ...connectedTo(provider)]);
  assert.deepEqual([refused.code, existsSync(log)], [0, false]);
  assert.match(refused.err, /is not used until you trust it/);
  const trusted = await place.run(["-p", "hi", "--trust", ...connectedTo(provider)]);
  assert.deepEqual([trusted.code, trusted.err, existsSync(log)], [0, "", true]);
  assert.ok(provider.requests.at(-1)?.body.tools?.some(({ function: { name } }) => name === "mcp__bad__act"));
});

test("[P3, R1, X1] an extension's server is like one of the file, which goes before it, and nothing of it is left", async (t) => {
  const provider = await providerFor(t, ...ANSWERS);
  const place = withServers(
    { taken: { command: process.execPath, args: [BAD_SERVER, "hang"], disabled: true } },
    60_000,
  );
  const calc = { command: process.execPath, args: [TOOL_SERVER], timeout: 60 };
  place.file(
    "servers.js",
    `export default (pi) => {
      pi.registerMcpServer("calc", ${JSON.stringify(calc)});
      pi.registerMcpServer("taken", ${JSON.stringify(calc)});
    };`,
  );
  const args = ["-e", "servers.js", "-p", "Add them.", ...connectedTo(provider)];
  assert.deepEqual(await place.run(args), { code: 0, out: "42\n", err: "" });
  const offered = provider.requests[0]?.body.tools?.map(({ function: { name } }) => name) ?? [];
  assert.deepEqual(
    offered.filter((name) => name.startsWith("mcp__taken")),
    [],
  );
  assert.deepEqual(provider.requests[1]?.body.messages.at(-1)?.content, "42");
});
