/** MCP servers as they come: official ones over both transports, and programs that do everything wrong. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { createServer as createSilentServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentTool } from "@earendil-works/pi-agent-core";
import type { McpEndpoint, McpServerConfig } from "../../src/agent/mcp/mcp-config.ts";
import { McpServers } from "../../src/agent/mcp/mcp-servers.ts";
import { BAD_SERVER } from "../support/mcp-bad-server.ts";
import { PIXEL, TOOL_SERVER, startHttpServer } from "../support/mcp-tool-server.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

interface Rig {
  servers: McpServers;
  tool(name: string): AgentTool;
  states(): string[];
}

const program = (...args: string[]): McpEndpoint => ({
  kind: "stdio",
  command: process.execPath,
  args,
  env: {},
  cwd: undefined,
});

interface RigOptions {
  startTimeoutMs?: number;
  timeoutMs?: number;
}

/** Servers by name, started, when each of them is ready or has failed. */
async function rig(t: TestContext, endpoints: Record<string, McpEndpoint>, options: RigOptions = {}): Promise<Rig> {
  const { startTimeoutMs, timeoutMs } = options;
  const servers = new McpServers({
    servers: Object.entries(endpoints).map(([name, endpoint]): McpServerConfig => ({
      name,
      source: "mcp.json",
      disabled: false,
      endpoint,
      problem: undefined,
      timeoutMs,
    })),
    cwd: temporaryFolder(),
    outputDir: temporaryFolder(),
    startTimeoutMs,
    changed: () => undefined,
  });
  t.after(() => servers.dispose());
  servers.start();
  await servers.settled(20_000);
  const states = (): string[] =>
    servers.all.map(({ config, status, problem }) => [config.name, status, problem].filter(Boolean).join(" "));
  const tool = (name: string): AgentTool => {
    const found = servers.tools().find((each) => each.name === name);
    assert.ok(found, `no tool ${name}; ${states().join(", ")}`);
    return found;
  };
  return { servers, tool, states };
}

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; !condition(); n++) {
    assert.ok(n < 500, "it did not come to that");
    await sleep(10);
  }
}

const isAlive = (pid: number): boolean => {
  try {
    // A process that has ended and waits for its parent is gone, too.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** What holds for a sound server, however it is reached. */
async function checkTools({ tool, servers }: Rig): Promise<void> {
  const names = ["add", "environment", "exit", "fail", "kinds", "learn", "repeat", "slow", "structured", "where"];
  assert.deepEqual(
    servers
      .tools()
      .map(({ name }) => name)
      .sort(),
    names.map((name) => `mcp__s__${name}`),
  );
  const add = tool("mcp__s__add");
  assert.deepEqual([add.label, add.description], ["s: add", "Adds two numbers."]);
  assert.deepEqual(await callTool(add, { a: 2, b: 3 }), {
    text: "5",
    isError: false,
    details: { server: "s", tool: "add" },
    content: [{ type: "text", text: "5" }],
  });
  const kinds = await callTool(tool("mcp__s__kinds"), {});
  assert.deepEqual(kinds.content[1], { type: "image", data: PIXEL, mimeType: "image/png" });
  assert.deepEqual((await callTool(tool("mcp__s__structured"), {})).text, '{"n":7}');
  const failed = await callTool(tool("mcp__s__fail"), {});
  assert.deepEqual([failed.text, failed.isError], ["no such row", true]);
  const long = await callTool(tool("mcp__s__repeat"), { line: "x", times: 3000 });
  assert.match(long.text, /\n\[Only the first 2,000 lines of 3,000 are shown \(in all 5\.9 KB\); all of it is in /);

  const updates: string[] = [];
  const stop = new AbortController();
  const slow = callTool(
    tool("mcp__s__slow"),
    {},
    {
      signal: stop.signal,
      onUpdate: (text) => {
        updates.push(text);
        if (updates.length === 3) stop.abort();
      },
    },
  );
  const stopped = await slow;
  assert.deepEqual([stopped.isError, updates.slice(0, 3)], [true, [1, 2, 3].map((n) => `working (${n} of 200)`)]);
  assert.match(stopped.text, /Stopped by the user|aborted/i);

  await callTool(tool("mcp__s__learn"), {});
  await until(() => servers.tools().some(({ name }) => name === "mcp__s__learnt"));
  assert.equal((await callTool(tool("mcp__s__learnt"), {})).text, "learnt");
}

test("[P3] an official server over standard input and output: tools, results, progress, abort, a new tool", async (t) => {
  await checkTools(await rig(t, { s: program(TOOL_SERVER) }));
});

test("[P3] an official server over streamable HTTP: the same, with the headers of the configuration", async (t) => {
  const http = await startHttpServer();
  t.after(() => http.close());
  const found = await rig(t, { s: { kind: "http", url: http.url, headers: { authorization: "Bearer k" } } });
  await checkTools(found);
  assert.ok(http.requests.every(({ authorization }) => authorization === "Bearer k"));
  // A server that was started again knows no session of before.
  http.forget();
  assert.equal((await callTool(found.tool("mcp__s__add"), { a: 1, b: 1 })).text, "2");
});

test("[P3] servers that speak only the protocol of 2026 are spoken to in it", async (t) => {
  const http = await startHttpServer({ modern: true });
  t.after(() => http.close());
  const { tool, states } = await rig(t, {
    stdio: program(TOOL_SERVER, "modern"),
    http: { kind: "http", url: http.url, headers: {} },
  });
  assert.deepEqual(states(), ["stdio ready", "http ready"]);
  for (const name of ["stdio", "http"])
    assert.equal((await callTool(tool(`mcp__${name}__add`), { a: 2, b: 2 })).text, "4");
});

test("[P3] a server gets what its entry says and no key of the user's", async (t) => {
  process.env["SOME_API_KEY"] = "secret";
  t.after(() => delete process.env["SOME_API_KEY"]);
  const cwd = temporaryFolder();
  const { tool } = await rig(t, { s: { ...program(TOOL_SERVER), env: { OWN: "yes" }, cwd } as McpEndpoint });
  const environment = JSON.parse((await callTool(tool("mcp__s__environment"), {})).text) as Record<string, string>;
  assert.deepEqual(
    [environment["OWN"], environment["PATH"], environment["SOME_API_KEY"]],
    ["yes", process.env["PATH"], undefined],
  );
  assert.match((await callTool(tool("mcp__s__where"), {})).text, new RegExp(` ${cwd}$`));
});

test("[P3] a server that ends during a call is named with its last words, and the next call starts it again", async (t) => {
  const { tool, states } = await rig(t, { s: program(TOOL_SERVER) });
  const [before] = (await callTool(tool("mcp__s__where"), {})).text.split(" ");
  const ended = await callTool(tool("mcp__s__exit"), {});
  assert.deepEqual(
    [ended.isError, ended.text],
    [true, 'The MCP server "s" did not answer the call: it ended with exit code 7; its last words: out of cheese.'],
  );
  assert.deepEqual(states(), ["s failed it ended with exit code 7; its last words: out of cheese"]);
  const [after] = (await callTool(tool("mcp__s__where"), {})).text.split(" ");
  assert.notEqual(before, after);
  assert.deepEqual(states(), ["s ready"]);
});

test("[P3] servers that cannot be started fail with a reason, and cost nobody else", async (t) => {
  const gone = await startHttpServer();
  await gone.close();
  const { states, servers } = await rig(t, {
    missing: { ...program(), command: "no-such-program" } as McpEndpoint,
    folder: { ...program(), cwd: "/no/such/folder" } as McpEndpoint,
    dies: program(BAD_SERVER, "dies"),
    refuse: program(BAD_SERVER, "refuse"),
    list: program(BAD_SERVER, "list"),
    noise: program(BAD_SERVER, "noise"),
    nobody: { kind: "http", url: gone.url, headers: {} },
    good: program(BAD_SERVER, "chatty"),
  });
  assert.deepEqual(states(), [
    'missing failed its command "no-such-program" was not found',
    "folder failed its folder /no/such/folder does not exist",
    "dies failed it ended with exit code 1; its last words: cannot find module",
    "refuse failed not today",
    "list failed its answer to the question for its tools is no valid one",
    "noise failed it writes to its standard output what is no MCP message",
    `nobody failed connect ECONNREFUSED ${new URL(gone.url).host}`,
    "good ready",
  ]);
  assert.deepEqual(
    servers.tools().map(({ name }) => name),
    ["mcp__good__act"],
  );
});

test("[P3] a server that never answers its greeting fails when its time is up", async (t) => {
  const { states } = await rig(t, { hang: program(BAD_SERVER, "hang") }, { startTimeoutMs: 400 });
  assert.deepEqual(states(), ["hang failed it gave no answer within 400 milliseconds"]);
});

test("[P3] HTTP servers that refuse access, answer nonsense or do not end are told apart", async (t) => {
  const answers: Record<string, (response: ServerResponse) => void> = {
    "/401": (response) => response.writeHead(401).end("who are you"),
    "/500": (response) => response.writeHead(500).end("oops"),
    "/html": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Welcome"),
    "/flood": (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (response.write("x".repeat(1 << 20)));
      };
      response.on("drain", more);
      more();
    },
  };
  const http = createServer((request, response) => answers[request.url ?? ""]?.(response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  t.after(() => (http.closeAllConnections(), http.close()));
  const { port } = http.address() as AddressInfo;
  const at = (path: string): McpEndpoint => ({ kind: "http", url: `http://127.0.0.1:${port}${path}`, headers: {} });
  const { states } = await rig(t, { access: at("/401"), broken: at("/500"), page: at("/html"), flood: at("/flood") });
  assert.deepEqual(states(), [
    'access failed it refuses access (HTTP 401); what it asks for goes into "headers" of its entry in mcp.json',
    "broken failed it answers with HTTP 500",
    "page failed Unexpected content type: text/html",
    "flood failed it sent an answer of more than 32 MB",
  ]);
});

test("[P3] of a list with nonsense the sound tools can be called", async (t) => {
  const { servers, tool } = await rig(t, { s: program(BAD_SERVER, "nonsense") });
  assert.deepEqual(
    servers.tools().map(({ name }) => name),
    ["mcp__s__good"],
  );
  assert.deepEqual(servers.all[0]?.faults, [
    '"text" has no schema of an object',
    '"type" has a broken schema',
    '"pattern" has a broken schema',
    '"list" has a broken schema',
    '"big" has a schema of 195.3 KB',
    "number 7 has no name",
    "number 8 has no name",
    '"good" is listed twice',
  ]);
  assert.equal((await callTool(tool("mcp__s__good"), {})).text, "acted in nonsense");
});

test("[P3] calls that get a nonsensical answer, too much of one or a crash are error results", async (t) => {
  const ways = ["result", "huge", "crash"];
  const { tool } = await rig(t, Object.fromEntries(ways.map((way) => [way, program(BAD_SERVER, way)])));
  const texts = await Promise.all(ways.map(async (way) => callTool(tool(`mcp__${way}__act`), {})));
  assert.deepEqual(
    texts.map(({ text, isError }) => [isError, text]),
    [
      [true, 'The MCP server "result" did not answer the call: its answer to "act" is no valid one.'],
      [true, 'The MCP server "huge" did not answer the call: it sent a message of more than 32 MB.'],
      [true, 'The MCP server "crash" did not answer the call: it ended with exit code 3.'],
    ],
  );
});

test("[P3] a call that gets no answer is an error result when its time is up", async (t) => {
  const { tool, states } = await rig(t, { deaf: program(BAD_SERVER, "deaf") }, { timeoutMs: 100 });
  const { text, isError } = await callTool(tool("mcp__deaf__act"), {});
  assert.deepEqual(
    [isError, text, states()],
    [true, 'The MCP server "deaf" did not answer the call: it gave no answer within 100 milliseconds.', ["deaf ready"]],
  );
});

test("[P3] a call to a server that is still starting ends at once when it is stopped", async (t) => {
  const http = await startHttpServer();
  const { tool, servers } = await rig(t, { s: { kind: "http", url: http.url, headers: {} } });
  const add = tool("mcp__s__add");
  await http.close();
  const silent = createSilentServer().listen(Number(new URL(http.url).port), "127.0.0.1");
  t.after(() => silent.close());
  const restart = servers.restart("s");
  const stop = new AbortController();
  const call = callTool(add, { a: 1, b: 1 }, { signal: stop.signal });
  setImmediate(() => stop.abort());
  assert.equal((await call).isError, true);
  await servers.dispose();
  await restart;
});

test("[P3] at the end nothing of a server is left, also of one that does not listen", async (t) => {
  const log = join(temporaryFolder(), "pids");
  const { servers, states } = await rig(t, {
    stubborn: program(BAD_SERVER, "stubborn", log),
    good: program(TOOL_SERVER),
  });
  assert.deepEqual(states(), ["stubborn ready", "good ready"]);
  const pids = readFileSync(log, "utf8").trim().split("\n").map(Number);
  assert.deepEqual([pids.length, pids.every(isAlive)], [2, true]);
  await servers.dispose();
  await until(() => !pids.some(isAlive));
});
