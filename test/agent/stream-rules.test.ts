/** Rules that read an answer while it streams in: cut anywhere, in bounded work and time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AssistantMessage, AssistantMessageEvent, ToolCall } from "@earendil-works/pi-ai";
import fc from "fast-check";
import { withinTime } from "../../src/agent/bounded-match.ts";
import { readRule } from "../../src/agent/rule-files.ts";
import type { StreamRule } from "../../src/agent/rule-files.ts";
import { RuleWatch } from "../../src/agent/stream-rules.ts";
import { UnescapedJson } from "../../src/agent/unescaped-json.ts";
import { assistant } from "../support/session-files.ts";

function rule(name: string, condition: string, ...head: string[]): StreamRule {
  const text = ["---", `condition: ${condition}`, ...head, "---", "No."].join("\n");
  const read = readRule({ path: `/r/${name}.md`, text });
  assert.deepEqual(read.problems, []);
  return read.rule!;
}

/** A watch, and what it is told as an answer with these blocks streams in. */
class Answer {
  readonly slow: string[] = [];
  readonly #watch: RuleWatch;
  readonly #partial: AssistantMessage = { ...(assistant("") as AssistantMessage), content: [] };

  constructor(...rules: StreamRule[]) {
    this.#watch = new RuleWatch({ rules, cwd: "/work", onSlow: ({ name }) => this.slow.push(name) });
  }

  /** A block of text in these pieces; the names of the rules that fit, with the number of the piece, or "end". */
  text(...pieces: string[]): string[] {
    return this.#prose("text", pieces);
  }
  thinking(...pieces: string[]): string[] {
    return this.#prose("thinking", pieces);
  }
  /** A call with these arguments, its JSON cut at `cuts`. */
  call(name: string, args: Record<string, unknown>, ...cuts: number[]): string[] {
    const call = { type: "toolCall", id: "c", name, arguments: {} } as ToolCall;
    const contentIndex = this.#partial.content.push(call) - 1;
    const json = JSON.stringify(args);
    const found = this.#see("start", { type: "toolcall_start", contentIndex, partial: this.#partial });
    const ends = [...cuts.filter((cut) => cut < json.length), json.length];
    ends.forEach((end, n) => {
      const keys = [...json.slice(0, end).matchAll(/"(\w+)":/g)].map((match) => match[1]!);
      call.arguments = Object.fromEntries(keys.map((key) => [key, args[key]])) as ToolCall["arguments"];
      const delta = json.slice(n === 0 ? 0 : ends[n - 1], end);
      found.push(...this.#see(`${n}`, { type: "toolcall_delta", contentIndex, delta, partial: this.#partial }));
    });
    call.arguments = args as ToolCall["arguments"];
    const end: AssistantMessageEvent = { type: "toolcall_end", contentIndex, toolCall: call, partial: this.#partial };
    return [...found, ...this.#see("end", end)];
  }
  /** A call that comes whole. */
  wholeCall(name: string, args: Record<string, unknown>): string[] {
    const toolCall = { type: "toolCall", id: "c", name, arguments: args } as ToolCall;
    const contentIndex = this.#partial.content.push(toolCall) - 1;
    return this.#see("end", { type: "toolcall_end", contentIndex, toolCall, partial: this.#partial });
  }

  #prose(kind: "text" | "thinking", pieces: readonly string[]): string[] {
    const contentIndex =
      this.#partial.content.push(kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "" }) - 1;
    const partial = this.#partial;
    const found = pieces.flatMap((delta, n) =>
      this.#see(`${n}`, { type: `${kind}_delta`, contentIndex, delta, partial }),
    );
    return [...found, ...this.#see("end", { type: `${kind}_end`, contentIndex, content: pieces.join(""), partial })];
  }

  #see(when: string, event: AssistantMessageEvent): string[] {
    return this.#watch.see(event).map(({ rule: { name }, stream }) => `${name} ${stream} ${when}`);
  }
}

const FILLER = "x".repeat(64);

test("[P2] a match may span deltas; a stream is read every 64 characters and at its end", () => {
  const logs = rule("logs", "console\\.log");
  assert.deepEqual(new Answer(logs).text("use cons", "ole.l", "og here"), ["logs text end"]);
  assert.deepEqual(new Answer(logs).text("use cons", `ole.log${FILLER}`, "more"), ["logs text 1"]);
  assert.deepEqual(new Answer(logs).text("use cons", "ole.l"), []);
  assert.deepEqual(new Answer(logs).text(), []);
});

test("[P2] wherever the deltas are cut, the same rules fit", () => {
  const text = `Let me ${FILLER} console.log("a") and then ${FILLER.repeat(3)} eval(x), the end`;
  const rules = [rule("logs", 'console\\.log\\("'), rule("eval", "eval\\(\\w+\\)"), rule("none", "debugger")];
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 }), { maxLength: 40 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((end, n) => text.slice(at[n], end));
      const names = new Answer(...rules).text(...pieces).map((found) => found.split(" ")[0]);
      assert.deepEqual(names, ["logs", "eval"]);
    }),
  );
});

test("[P2] blocks are read for themselves: nothing fits across two of them, and a rule comes once", () => {
  const answer = new Answer(rule("ab", "a.*b|cc"));
  assert.deepEqual(answer.text("a"), []);
  assert.deepEqual(answer.text("b"), []);
  assert.deepEqual(answer.text("cc"), ["ab text end"]);
  assert.deepEqual(answer.text("cc"), []);
});

test("[P2] scopes: text and tools by default; thinking, one tool, one tool's files", () => {
  const plain = rule("plain", "foo");
  assert.deepEqual(new Answer(plain).thinking("foo"), []);
  assert.deepEqual(new Answer(plain).text("foo"), ["plain text end"]);
  assert.deepEqual(new Answer(plain).call("bash", { command: "foo" }), ["plain tool end"]);
  assert.deepEqual(new Answer(rule("deep", "foo", "scope: thinking")).thinking("foo"), ["deep thinking end"]);
  assert.deepEqual(new Answer(rule("deep", "foo", "scope: thinking")).text("foo"), []);
  const write = rule("write", "foo", "scope: tool:write(src/*.ts)");
  assert.deepEqual(new Answer(write).text("foo"), []);
  assert.deepEqual(new Answer(write).call("edit", { path: "src/a.ts", content: "foo" }), []);
  assert.deepEqual(new Answer(write).call("write", { path: "src/a.js", content: "foo" }), []);
  assert.deepEqual(new Answer(write).call("write", { path: "src/a.ts", content: "foo" }), ["write tool end"]);
  assert.deepEqual(new Answer(write).call("write", { path: "./src/../src/a.ts", content: "foo" }), ["write tool end"]);
  assert.deepEqual(new Answer(write).call("write", { path: "/work/src/a.ts", content: "foo" }), ["write tool end"]);
  assert.deepEqual(new Answer(write).call("write", { path: "/else/src/a.ts", content: "foo" }), []);
});

test("[P2] a rule for some files waits until the path is complete, wherever it stands among the arguments", () => {
  const write = rule("write", "foo", "scope: tool:write(*.ts)");
  const content = `foo${FILLER}`;
  // `{"path":"a.ts","content":"foo…`: the path is known as soon as another argument begins.
  assert.deepEqual(new Answer(write).call("write", { path: "a.ts", content }, 15, 90), ["write tool 1"]);
  assert.deepEqual(new Answer(write).call("write", { content, path: "a.ts" }, 80, 95), ["write tool end"]);
  assert.deepEqual(new Answer(write).call("write", { content, path: "a.tsx" }, 80, 98), []);
});

test("[P2] arguments are read as what they mean, not as JSON", () => {
  const quoted = rule("quoted", 'log\\("a\\\\b"\\)\\n');
  const args = { content: 'console.log("a\\b")\n' };
  for (let cut = 1; cut < JSON.stringify(args).length; cut++)
    assert.deepEqual(new Answer(quoted).call("write", args, cut), ["quoted tool end"]);
  assert.deepEqual(new Answer(quoted).wholeCall("write", args), ["quoted tool end"]);
});

test("[P2] escapes of JSON are resolved wherever they are cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat(80)), (value, cuts) => {
      const json = JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => {
        const code = unit.charCodeAt(0).toString(16).padStart(4, "0");
        return unit.length === 1 ? `\\u${code}` : unit;
      });
      const reader = new UnescapedJson();
      const at = [0, ...cuts.filter((cut) => cut < json.length).sort((a, b) => a - b), json.length];
      const read = at.slice(1).map((end, n) => reader.add(json.slice(at[n], end)));
      assert.equal(read.join(""), `"${value}"`);
    }),
  );
});

test("[P2] ^ and \\b hold at the stream's own beginning, not where the text was cut", () => {
  const start = rule("start", "^x");
  assert.deepEqual(new Answer(start).text("y", ...Array.from({ length: 400 }, () => FILLER)), []);
  assert.deepEqual(new Answer(start).text("x", "y"), ["start text end"]);
  const word = rule("word", "\\bxx");
  assert.deepEqual(new Answer(word).text("y", ...Array.from({ length: 400 }, () => FILLER)), []);
});

test("[P2] a match reaches back 4,096 characters, however long the answer is", () => {
  const far = rule("far", "a[^a]*b");
  assert.deepEqual(new Answer(far).text(`${FILLER.repeat(500)}a`, "x".repeat(4_000), "b"), ["far text end"]);
  assert.deepEqual(new Answer(far).text("a", ...Array.from({ length: 200 }, () => FILLER), "b"), []);
});

test("[P2] what is read grows with the answer, not with its square", () => {
  const characters = (deltas: number): number => {
    let read = 0;
    const counting = rule("counting", "zzz");
    const condition = counting.conditions[0]!;
    Object.defineProperty(condition, "test", {
      value: (text: string) => {
        read += text.length - condition.lastIndex;
        return false;
      },
    });
    new Answer(counting).text(...Array.from({ length: deltas }, () => "four"));
    return read;
  };
  const [one, four] = [characters(4_000), characters(16_000)];
  assert.ok(four < 5 * one, `${one} → ${four}`);
});

test("[P2] a condition that takes for ever is ended, told, and not asked again; the others work", () => {
  const bad = rule("bad", "(a+)+$");
  const good = rule("good", "!");
  const answer = new Answer(bad, good);
  assert.deepEqual(answer.text(`${"a".repeat(40)}!`), ["good text end"]);
  assert.deepEqual(answer.slow, ["bad"]);
  assert.deepEqual(answer.text(`${"a".repeat(40)}!`), []);
  assert.deepEqual(answer.slow, ["bad"]);
});

test("[P2] work within a time limit: done, ended, or failed by itself", () => {
  let done = 0;
  assert.equal(
    withinTime(1_000, () => done++),
    true,
  );
  assert.equal(
    withinTime(20, () => /(a+)+$/.test(`${"a".repeat(40)}!`)),
    false,
  );
  assert.throws(() => withinTime(1_000, () => assert.fail("mine")), /mine/);
  assert.equal(done, 1);
});
