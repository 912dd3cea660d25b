// A client of `bough --mode rpc`: draws a session's tree and moves in it. Type a row's number to go there, b or f for back
// and forward, q to end. Its argument is a session file; without one it works on a copy of the example session.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const session = process.argv[2] ? ["--session", process.argv[2]] : ["--fork", here("../assets/example-session.jsonl")];
const bough = spawn(process.execPath, [here("../dist/cli/main.js"), "--mode", "rpc", ...session], {
  stdio: ["pipe", "pipe", "inherit"],
});

// Lines end at LF and nowhere else. A response has the id of its command; an event has none.
const waiting = new Map();
let rest = "";
bough.stdout.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, type, success, data, error } = JSON.parse(line);
    if (type !== "response") continue;
    waiting.get(id)?.(success ? data : Promise.reject(new Error(error)));
    waiting.delete(id);
  }
});

let lastId = 0;
function ask(type, fields = {}) {
  const id = ++lastId;
  bough.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

async function draw() {
  const { rows, leafId } = await ask("get_tree");
  for (const { row, prefix, active, current, label, text } of rows) {
    const marks = `${current ? "›" : " "} ${prefix}${active ? "• " : ""}${label ? `[${label}] ` : ""}`;
    console.log(`${String(row).padStart(3)} ${marks}${text}`.slice(0, 100).trimEnd());
  }
  return { rows, leafId };
}

let { rows, leafId } = await draw();
for await (const typed of createInterface({ input: process.stdin })) {
  if (typed === "q") break;
  const row = rows[Number(typed) - 1];
  try {
    // With `expectedLeaf` nothing is done if the session has moved since it was drawn.
    const expected = { expectedLeaf: leafId };
    if (typed === "b" || typed === "f") await ask(typed === "b" ? "back" : "forward", expected);
    else if (row !== undefined) {
      const { editorText } = await ask("navigate", { targetId: row.id, ...expected });
      if (editorText !== undefined) console.log(`To be sent anew: ${editorText}`);
    }
    ({ rows, leafId } = await draw());
  } catch (error) {
    console.log(error.message);
  }
}
bough.stdin.end(); // bough saves and ends
