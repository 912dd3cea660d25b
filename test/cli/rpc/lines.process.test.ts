/** `--mode rpc`: what comes in and goes out, line by line, however it is written, cut or held up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Place, connectedTo, providerFor, savedMessages } from "../../support/command.ts";
import { callTools, say } from "../../support/provider-mock.ts";
import { rpcClient } from "../../support/rpc-client.ts";
import { HEADER, file, message } from "../../support/session-lines.ts";

const parseFailure = (error: string, id?: string | number): object => ({
  ...(id === undefined ? {} : { id }),
  type: "response",
  command: "parse",
  success: false,
  code: "parse",
  error,
});

test("[R1] lines that are no command each get an answer, and bough goes on", async (t) => {
  const client = rpcClient(t, new Place(), ["--no-session"]);
  const lines = [
    "{",
    "[]",
    "null",
    '{"id":7}',
    '{"id":{"a":1},"type":5}',
    '{"id":"x","type":"fly"}',
    '{"id":8,"type":"__proto__"}',
    '{"id":9,"type":"constructor"}',
    '{"id":10,"type":"navigate"}',
    '{"id":11,"type":"navigate","targetId":"a","expectedleaf":"b"}',
    '{"id":12,"type":"set_thinking_level","level":"huge"}',
    '{"id":[13],"type":"get_tree","limit":0,"filter":"some"}',
    '{"id":14,"type":"prompt","message":"hi","__proto__":{"images":[]}}',
    " \r",
    '{"id":"last","type":"get_messages"}\r',
  ];
  client.write(lines.map((line) => `${line}\n`).join(""));
  await client.next(({ id }) => id === "last");
  const invalid = (id: unknown, command: string, why: string): object => ({
    ...(id === undefined ? {} : { id }),
    type: "response",
    command,
    success: false,
    code: "invalid",
    error: `The command ${command} cannot be read: ${why}.`,
  });
  const unknown = (id: unknown, command: string): object => ({
    id,
    type: "response",
    command,
    success: false,
    code: "unknown",
    error: `There is no command "${command}"; docs/rpc.md lists them.`,
  });
  const [noJson, ...responses] = client.responses;
  assert.match(String(noJson?.error), /^The line is no JSON: /);
  assert.deepEqual({ ...noJson, error: "" }, parseFailure(""));
  assert.deepEqual(responses, [
    parseFailure("The line is no JSON object."),
    parseFailure("The line is no JSON object."),
    parseFailure('The line names no command in "type".', 7),
    parseFailure('The line names no command in "type".'),
    unknown("x", "fly"),
    unknown(8, "__proto__"),
    unknown(9, "constructor"),
    invalid(10, "navigate", "targetId: missing"),
    invalid(11, "navigate", "expectedleaf: unknown field"),
    invalid(12, "set_thinking_level", 'level: expected one of ["off","minimal","low","medium","high","xhigh","max"]'),
    invalid(
      undefined,
      "get_tree",
      "id: expected string, got array; " +
        'filter: expected one of ["default","no-tools","user-only","labeled-only","all"]; limit: expected >= 1',
    ),
    invalid(14, "prompt", "__proto__: unknown field"),
    { id: "last", type: "response", command: "get_messages", success: true, data: { messages: [] } },
  ]);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
});

test("[R1] a line ends at LF alone, wherever the bytes of it are cut", async (t) => {
  const client = rpcClient(t, new Place(), ["--no-session"]);
  const name = "ü\u2028\u2029\u0085\u{1f333} tree";
  const bytes = Buffer.from(`${JSON.stringify({ id: 1, type: "set_name", name })}\n`);
  for (const byte of bytes) {
    client.write(Uint8Array.of(byte));
    await new Promise(setImmediate);
  }
  await client.next(({ id }) => id === 1);
  // A line of its own, and one without an end.
  client.write('{"id":2,"type":"abort"}\n{"id":3,"type":"get_state"}');
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(
    client.responses.map(({ id, success, data }) => [id, success, data?.["sessionName"]]),
    [
      [1, true, undefined],
      [2, true, undefined],
      [3, true, "ü \u{1f333} tree"],
    ],
  );
});

test("[R1] a line of ten megabytes goes in, and comes out of it again", async (t) => {
  const server = await providerFor(t, say("ok"));
  const place = new Place();
  const client = rpcClient(t, place, connectedTo(server));
  const text = "long ".repeat(2 << 20);
  await client.data("prompt", { message: text });
  await client.event("agent_settled");
  const { messages } = (await client.data("get_messages")) as { messages: { content: { text: string }[] }[] };
  assert.ok(messages[0]?.content[0]?.text === text);
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  assert.deepEqual(await savedMessages(place.sessionFiles()[0]), [`user: ${text}`, "assistant: ok"]);
});

test("[R1, N3] commands sent together are done in turn: of two that expect the same leaf the second is refused", async (t) => {
  const place = new Place();
  const path = place.file("chain.jsonl", file(HEADER, message("a", null), message("b", "a"), message("c", "b")));
  const client = rpcClient(t, place, ["--session", path]);
  client.write(
    [
      { id: 1, type: "navigate", targetId: "b", expectedLeaf: "c" },
      { id: 2, type: "navigate", targetId: "a", expectedLeaf: "c" },
      { id: 3, type: "set_label", entryId: "b", label: "here" },
      { id: 4, type: "back" },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  // The input ends at once; what was sent before is done all the same.
  assert.deepEqual(await client.end(), { code: 0, err: "" });
  const [first, second, third, fourth] = client.responses;
  assert.deepEqual(first?.data, { cancelled: false, leafId: "a", editorText: "b" });
  assert.deepEqual([second?.id, second?.code, second?.data], [2, "leaf", { leafId: "a" }]);
  assert.deepEqual([third?.id, third?.success], [3, true]);
  assert.deepEqual([fourth?.id, fourth?.data], [4, { cancelled: false, moved: true, leafId: "c" }]);
});

/** Runs before bough's own code: each request of bough is followed by what a careless library would write. */
const STRAY = `--import=data:text/javascript,${encodeURIComponent(`
  const real = globalThis.fetch;
  globalThis.fetch = (...args) => { console.log("stray"); process.stdout.write("stray"); return real(...args); };
`)}`;

test("[R1] what anything else writes to standard output goes to standard error, in both modes", async (t) => {
  const server = await providerFor(t, callTools({ id: "c", name: "ls", arguments: {} }), say("ok"));
  const place = new Place();
  const client = rpcClient(t, place, ["--no-session", ...connectedTo(server)], { env: { NODE_OPTIONS: STRAY } });
  await client.data("prompt", { message: "hi" });
  await client.event("agent_settled");
  assert.deepEqual(await client.end(), { code: 0, err: "stray\nstraystray\nstray" });

  const json = await place.run(["--mode", "json", "hi", ...connectedTo(server)], { NODE_OPTIONS: STRAY });
  assert.deepEqual([json.code, json.err], [0, "stray\nstray"]);
  for (const line of json.out.trimEnd().split("\n")) JSON.parse(line);
});

test("[R1] wrong usage and a missing session: the reason on standard error, the exit code, no line", async (t) => {
  const place = new Place();
  const refused = async (...args: string[]): Promise<unknown[]> => {
    const client = rpcClient(t, place, args);
    const { code } = await client.done;
    return [code, client.lines, client.err];
  };
  assert.deepEqual(await refused("hello"), [2, [], "bough: In --mode rpc prompts are commands on standard input.\n"]);
  assert.deepEqual(await refused("-r"), [
    2,
    [],
    "bough: Name the session to resume: an id, its beginning, or a path.\n",
  ]);
  const [code, lines, err] = await refused("--session", "none.jsonl");
  assert.deepEqual([code, lines], [1, []]);
  assert.match(String(err), /^bough: [^\n]*none\.jsonl[^\n]*\n$/);
  assert.deepEqual(await place.run(["--mode", "acp"]), {
    code: 2,
    out: "",
    err: 'bough: --mode takes text, json or rpc, not "acp".\n',
  });
});
