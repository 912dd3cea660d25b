/** Tests of src/tui/mcp-selector.ts: the list behind /mcp. */
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { McpServerView } from "../../src/agent/mcp/session-mcp.ts";
import { McpSelector } from "../../src/tui/mcp-selector.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";
import { KEYS, body, inert, lines, press, testScreen, type } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

const tool = (server: string, name: string, description = "", isSelected = true) => ({
  name: `mcp__${server}__${name}`,
  tool: name,
  description,
  isSelected,
});
const server = (name: string, fields: Partial<McpServerView> = {}): McpServerView => ({
  name,
  source: "mcp.json",
  status: "ready",
  problem: undefined,
  tools: [],
  ...fields,
});

const SERVERS = [
  server("files", { tools: [tool("files", "read", "Reads a file."), tool("files", "write", "", false)] }),
  server("wiki", { status: "failed", problem: "it ended with exit code 1" }),
  server("slow", { status: "starting" }),
  server("old", { status: "disabled" }),
];

function selector(servers: McpServerView[] = SERVERS) {
  const events: string[] = [];
  const component = new McpSelector({
    screen: testScreen(),
    servers: () => servers,
    emptyText: "There are none.",
    onSave: (names) => events.push(`save ${names.join(" ")}`),
    onRestart: (name) => events.push(`restart ${name}`),
    onCancel: () => events.push("cancel"),
  });
  return { component, events };
}

test("[P3, U4] the whole list: servers with their state, tools with what is chosen", () => {
  deepEqual(lines(selector().component, 60), [
    "",
    "─".repeat(60),
    "  MCP servers",
    "  type to filter · Space: use or leave out",
    "  Enter: save for this branch",
    "  Ctrl+R: start the server anew · Escape: cancel",
    "  Search:",
    "─".repeat(60),
    "",
    "› files 1 of 2 ready",
    "    [x] read Reads a file.",
    "    [ ] write",
    "  wiki it ended with exit code 1",
    "  slow starting …",
    "  old switched off",
    "  (1/6)",
    "",
    "─".repeat(60),
  ]);
});

test("[P3, U4] Space switches a tool, or all of a server's; Enter saves what is on, Escape nothing", () => {
  const { component, events } = selector();
  press(component, "down");
  type(component, " ");
  deepEqual(body(component, 60).slice(0, 3), ["  files 0 of 2 ready", "›   [ ] read Reads a file.", "    [ ] write"]);
  press(component, "up");
  type(component, " ");
  deepEqual(body(component, 60)[0], "› files 2 of 2 ready");
  press(component, "enter");
  type(component, " ");
  press(component, "enter", "escape");
  deepEqual(events, ["save mcp__files__read mcp__files__write", "save ", "cancel"]);
});

test("[P3, U4] typing filters tools and servers, and what is hidden keeps its place in the choice", () => {
  const { component, events } = selector();
  type(component, "wri");
  deepEqual(body(component, 60), ["› files 1 of 2 ready", "    [ ] write", "  (1/2)"]);
  press(component, "down");
  type(component, " ");
  press(component, "enter", "escape");
  type(component, "wik");
  deepEqual(body(component, 60), ["› wiki it ended with exit code 1", "  (1/1)"]);
  press(component, "ctrlR");
  type(component, "zz");
  deepEqual(body(component, 60), ['  No tool or server matches "wikzz"', "  (0/0)"]);
  deepEqual(events, ["save mcp__files__read mcp__files__write", "restart wiki"]);
});

test("[P3, U4] the list follows the servers while it is open", () => {
  const servers = [server("a", { tools: [tool("a", "one"), tool("a", "two")] })];
  const { component, events } = selector(servers);
  press(component, "end");
  servers[0] = server("a", { tools: [tool("a", "one")] });
  deepEqual(body(component, 60), ["  a 1 of 1 ready", "›   [x] one", "  (2/2)"]);
  type(component, " ");
  servers[0] = server("a", { tools: [tool("a", "one"), tool("a", "three")] });
  press(component, "enter");
  deepEqual(events, ["save mcp__a__three"]);
});

test("[P3, U5] without servers every key is harmless, and what servers say cannot drive the terminal", () => {
  const { component, events } = selector([]);
  deepEqual(body(component, 60), ["  There are none.", "  (0/0)"]);
  press(component, ...(Object.keys(KEYS) as KeyName[]).filter((key) => !["escape", "ctrlC", "enter"].includes(key)));
  type(component, " ");
  deepEqual(events, []);
  for (const [, text] of HOSTILE_TEXTS)
    for (const width of [1, 2, 40])
      inert(
        selector([
          server(text, {
            status: "failed",
            problem: text,
            tools: [{ ...tool("s", "t"), tool: text, description: text }],
          }),
        ]).component,
        width,
      );
});
