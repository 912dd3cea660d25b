/**
 * MCP servers that do everything wrong, as programs: `node mcp-bad-server.ts <way>`.
 * Used by tests of MCP servers.
 */
import { appendFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const BAD_SERVER = fileURLToPath(import.meta.url);

interface Request {
  id?: number;
  method: string;
}

const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const GREETING = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "bad", version: "1" },
};
const TOOLS: Record<string, unknown[]> = {
  nonsense: [
    { name: "good", description: "Works.", inputSchema: { type: "object" } },
    { name: "text", inputSchema: "an object" },
    { name: "type", inputSchema: { type: "object", properties: { a: { type: "strng" } } } },
    { name: "pattern", inputSchema: { type: "object", properties: { a: { type: "string", pattern: "(" } } } },
    { name: "list", inputSchema: { type: "object", properties: { a: ["x"] } } },
    { name: "big", inputSchema: { type: "object", description: "x".repeat(200_000) } },
    { inputSchema: { type: "object" } },
    "nothing",
    { name: "good", inputSchema: { type: "object" } },
  ],
};
const PLAIN = [{ name: "act", inputSchema: { type: "object" } }];

/** What each way answers to a request, beside what it does at its start. */
function answer(way: string, { id, method }: Request): void {
  if (id === undefined) return;
  if (method === "initialize") {
    if (way === "hang" || way === "noise") return;
    if (way === "refuse") return send({ id, error: { code: -32_000, message: "not today" } });
    send({ id, result: GREETING });
  } else if (method === "tools/list") {
    if (way === "list") send({ id, result: { tools: "many" } });
    else send({ id, result: { tools: TOOLS[way] ?? PLAIN } });
  } else if (method === "tools/call") {
    if (way === "deaf") return;
    if (way === "result") send({ id, result: { content: "words" } });
    else if (way === "crash") process.exit(3);
    else if (way === "huge") process.stdout.write("x".repeat(40 * 1024 * 1024));
    else send({ id, result: { content: [{ type: "text", text: `acted in ${way}` }] } });
  }
}

if (process.argv[1] === BAD_SERVER) {
  const [way = "", log] = process.argv.slice(2);
  if (log !== undefined) appendFileSync(log, `${process.pid}\n`);
  if (way === "noise") setInterval(() => process.stdout.write(`${"log line ".repeat(1000)}\n`), 1);
  if (way === "chatty") process.stdout.write("Server is running\n");
  if (way === "dies") {
    process.stderr.write("cannot find \u001b[31mmodule\u001b[0m\n");
    process.exit(1);
  }
  if (way === "stubborn") {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    if (log !== undefined) appendFileSync(log, `${child.pid}\n`);
    setInterval(() => undefined, 1000);
  }
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => answer(way, JSON.parse(line) as Request));
}
