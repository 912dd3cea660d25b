/**
 * A session that tries to run scripts in whoever shows it as HTML: every payload in every field that a page may show.
 */
import { HEADER, line } from "./session-lines.ts";

/** Each would set `window.ran`, or load something, where text became markup or an address. */
export const PAYLOADS: readonly string[] = [
  `<script>window.ran=1</script>`,
  `</script><script>window.ran=2</script>`,
  `</ScRiPt ><sCrIpT>window.ran=3</sCrIpT>`,
  `<!--<script>`,
  `--><script>window.ran=4</script>`,
  `<img src=x onerror=window.ran=5>`,
  `"><img src=x onerror=window.ran=6>`,
  `'><img src=x onerror=window.ran=7>`,
  `<svg onload=window.ran=8>`,
  `<svg><script>window.ran=9</script></svg>`,
  `<svg><animate onbegin=window.ran=10 attributeName=x dur=1s>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror=window.ran=11>`,
  `<iframe srcdoc="<script>parent.ran=12</script>"></iframe>`,
  `<iframe src="javascript:parent.ran=13"></iframe>`,
  `<object data="javascript:window.ran=14"></object>`,
  `<embed src="https://evil.example/x.swf">`,
  `<body onload=window.ran=15>`,
  `<details open ontoggle=window.ran=16>`,
  `<input autofocus onfocus=window.ran=17>`,
  `<video><source onerror=window.ran=18></video>`,
  `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<style>@import "https://evil.example/x.css"; body{display:none}</style>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv=refresh content="0;url=https://evil.example/">`,
  `<form action="https://evil.example/"><button>Go</button></form>`,
  `<a href="javascript:window.ran=19">x</a>`,
  `[x](javascript:window.ran=20)`,
  `[x](JaVaScRiPt:window.ran=21)`,
  `[x](java&#10;script:window.ran=22)`,
  `[x](&#106;avascript:window.ran=23)`,
  `[x](data:text/html,<script>window.ran=24</script>)`,
  `[x](vbscript:msgbox(1))`,
  `![x](https://evil.example/pixel.png)`,
  `![x](javascript:window.ran=25)`,
  `[x]: javascript:window.ran=26\n\n[x]`,
  '```"><img/src=x/onerror=window.ran=27>\n</code></pre><img src=x onerror=window.ran=28>\n```',
  "<javascript:window.ran=29> `<img src=x onerror=window.ran=30>` ${window.ran=31} {{window.ran=32}} $& $` <?lit$1$?>",
];

const sum = (value: string): object => ({
  input: value,
  output: value,
  cacheRead: value,
  cacheWrite: value,
  totalTokens: value,
  cost: { total: value },
});

/** Every entry kind and role, with the payload wherever a string may stand, and where a number should. */
function* entriesWith(payload: string, n: number): Generator<string> {
  const id = (part: string): string => `${part} ${n} ${payload}`;
  let last: string | null = null;
  const below = (type: string, part: string, fields: object): string => {
    const made = line(type, id(part), last, fields);
    last = id(part);
    return made;
  };
  const content = [
    { type: "text", text: payload },
    { type: "thinking", thinking: payload },
    { type: "image", data: payload, mimeType: payload },
    { type: "image", data: `iVBORw0KGgo${payload}`, mimeType: `image/png${payload}` },
    { type: payload, text: payload },
    { type: "toolCall", id: id("call"), name: payload, arguments: { [payload]: payload, path: payload } },
    { type: "toolCall", id: id("open"), name: "bash", arguments: { command: payload } },
    {
      type: "toolCall",
      id: id("edit"),
      name: "edit",
      arguments: { path: payload, oldText: payload, newText: payload },
    },
    { type: "toolCall", id: id("write"), name: "write", arguments: { path: `${payload}.html`, content: payload } },
    { type: "toolCall", id: id("odd"), name: { toString: payload }, arguments: payload },
  ];
  const message = (part: string, fields: object): string =>
    below("message", part, { message: { timestamp: payload, content, ...fields } });
  yield message("user", { role: "user" });
  yield message("answer", {
    role: "assistant",
    provider: payload,
    model: payload,
    usage: sum(payload),
    errorMessage: payload,
    stopReason: payload,
  });
  yield message("result", {
    role: "toolResult",
    toolCallId: id("call"),
    toolName: payload,
    isError: payload,
    details: { diff: `+${payload}\n-${payload}\n@${payload}` },
  });
  yield message("shell", { role: "bashExecution", command: payload, output: payload, exitCode: payload });
  yield message("python", { role: "pythonExecution", code: payload, output: payload, exitCode: payload });
  yield message("files", { role: "fileMention", files: [{ path: payload, content: payload }] });
  yield message("system", { role: "system" });
  yield message("role", { role: payload });
  yield message("custom", { role: "custom", customType: payload, display: payload });
  yield below("compaction", "compaction", { summary: payload, firstKeptEntryId: payload, tokensBefore: payload });
  yield below("branch_summary", "summary", { summary: payload, fromId: payload });
  yield below("custom_message", "note", { customType: payload, content: payload, display: true });
  yield below("custom", "state", { customType: payload, data: { [payload]: payload } });
  yield below("model_change", "model", { provider: payload, modelId: payload });
  yield below("thinking_level_change", "level", { thinkingLevel: payload });
  yield below("mode_change", "mode", { mode: payload, data: { [payload]: payload } });
  yield below("session_info", "name", { name: payload });
  yield below("label", "label", { targetId: id("user"), label: payload });
  yield below(payload, "kind", { [payload]: payload });
  yield line("message", id("orphan"), `gone ${payload}`, { message: { role: "user", content: payload } });
}

/** All payloads, one chain each; the chains hang on one another, so that one branch shows nearly all of them. */
export function hostileSession(): string[] {
  const header = JSON.parse(HEADER) as object;
  const all = PAYLOADS.join(" ");
  const lines = [JSON.stringify({ ...header, id: all, cwd: all, timestamp: all, parentSession: all })];
  let end: string | null = null;
  for (const [n, payload] of PAYLOADS.entries())
    for (const entry of entriesWith(payload, n)) {
      const record = JSON.parse(entry) as { id: string; parentId: string | null };
      const isStart = record.parentId === null;
      lines.push(isStart ? JSON.stringify({ ...record, parentId: end }) : entry);
      if (!record.id.startsWith("orphan")) end = record.id;
    }
  // The leaf follows the last orphan otherwise.
  lines.push(line("message", "end", end, { message: { role: "user", content: "end", timestamp: 0 } }));
  return lines;
}
