/** `--mode json` as a program: the header, then every event, a line each, and nothing else on standard output. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Place, connectedTo, providerFor, savedMessages } from "../support/command.ts";
import { callTools, dropAfter, say } from "../support/provider-mock.ts";

interface Line {
  type: string;
  message?: { role: string };
  assistantMessageEvent?: { type: string; delta?: string };
  toolName?: string;
  entry?: { type: string };
  aborted?: boolean;
}

const linesOf = (out: string): Line[] => {
  assert.ok(out.endsWith("\n"));
  return out
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
};

/** An event in a few words; entries of state are left out. */
function inWords(line: Line): string {
  if (line.type === "entry_appended") return `entry ${line.entry?.type}`;
  if (line.message !== undefined) return `${line.type} ${line.message.role}`;
  if (line.assistantMessageEvent !== undefined) return `${line.type} ${line.assistantMessageEvent.type}`;
  return line.toolName === undefined ? line.type : `${line.type} ${line.toolName}`;
}

test("[R1] the header first, then every event in order, each a line of JSON", async (t) => {
  const server = await providerFor(
    t,
    callTools({ id: "call_1", name: "ls", arguments: {} }),
    say("Two ", "pieces\u2028\u009b\u202e."),
  );
  const place = new Place();
  const { code, out, err } = await place.run(["--mode", "json", "List", ...connectedTo(server)]);
  assert.deepEqual([code, err], [0, ""]);
  assert.doesNotMatch(out, /[^\P{Cc}\n]|[\p{Cf}\u2028\u2029]/u, "nothing in it drives a terminal");
  const [header, ...events] = linesOf(out) as [Record<string, unknown>, ...Line[]];
  assert.deepEqual(Object.keys(header), ["type", "version", "id", "timestamp", "cwd"]);
  assert.deepEqual([header["type"], header["version"], header["cwd"]], ["session", 3, place.cwd]);
  const first = events.findIndex(({ type }) => type === "agent_start");
  assert.deepEqual(events.slice(first).map(inWords), [
    "agent_start",
    "turn_start",
    "entry message",
    "entry session_info",
    "session_info_changed",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update toolcall_start",
    "message_update toolcall_delta",
    "message_update toolcall_end",
    "entry message",
    "message_end assistant",
    "tool_execution_start ls",
    "entry message",
    "tool_execution_end ls",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end assistant",
    "turn_start",
    "message_start assistant",
    "message_update text_start",
    "message_update text_delta",
    "message_update text_delta",
    "message_update text_end",
    "entry message",
    "message_end assistant",
    "turn_end assistant",
    "agent_end",
    "agent_settled",
  ]);
  const updates = events.filter(({ type }) => type === "message_update");
  for (const update of updates) {
    assert.deepEqual(Object.keys(update), ["type", "assistantMessageEvent"]);
    assert.ok(!("partial" in (update.assistantMessageEvent ?? {})));
  }
  const text = updates.map(({ assistantMessageEvent }) =>
    assistantMessageEvent?.type === "text_delta" ? assistantMessageEvent.delta : "",
  );
  assert.equal(text.join(""), "Two pieces\u2028\u009b\u202e.");
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [
    "user: List",
    "assistant: ",
    "toolResult: (empty directory)",
    "assistant: Two pieces\u2028\u009b\u202e.",
  ]);
});

test("[R1] a failed answer: all events are there, the reason is on standard error too, exit code 1", async (t) => {
  const server = await providerFor(t, dropAfter("Half"));
  const place = new Place();
  place.writeSettings({ retry: { maxRetries: 1, baseDelayMs: 1 } });
  const { code, out, err } = await place.run(["-p", "--mode", "json", "hi", ...connectedTo(server)]);
  assert.equal(code, 1);
  assert.match(err, /^bough: [^\n]+\n$/);
  const types = linesOf(out).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type.startsWith("auto_retry") || type.startsWith("agent_")),
    ["agent_start", "agent_end", "auto_retry_start", "agent_start", "agent_end", "auto_retry_end", "agent_settled"],
  );
});
