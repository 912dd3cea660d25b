import assert from "node:assert/strict";
import { test } from "node:test";
import { glanceAtAnswer } from "../../src/tree/answer-glance.ts";
import { isBlank } from "../../src/tree/one-line.ts";
import { Outline } from "../../src/tree/outline.ts";
import type { OutlineOptions, OutlineRow, OutlineSource } from "../../src/tree/outline.ts";
import { readSession } from "../../src/tree/reader.ts";
import { SeededRandom, generateSession } from "../support/generate.ts";
import { HEADER, bytesOf, file, line, memorySource } from "../support/session-lines.ts";

const text = (value: unknown): object => ({ type: "text", text: value });
const call = {
  type: "toolCall",
  id: "c",
  name: "bash",
  arguments: { text: "x", type: "text", list: [{ type: "text" }] },
};
const thinking = { type: "thinking", thinking: 'a "quoted" }]{[ \\ word', thinkingSignature: "c2Vh" };
const answer = (content: unknown, fields: object = {}, entry: object = {}): string =>
  line("message", "a1", null, { message: { role: "assistant", content, ...fields }, ...entry });
const glance = (record: string): unknown => glanceAtAnswer(bytesOf(record));
const silent = (hasCalls: boolean): object => ({ isSilent: true, hasCalls });
const speaks = (hasCalls?: boolean): object => ({ isSilent: false, hasCalls });

test("[Y9, U1] an answer's bytes tell whether it says something or ended early, and whether a silent one calls tools", () => {
  assert.deepEqual(glance(answer([])), silent(false));
  assert.deepEqual(glance(answer([text("")], { stopReason: "stop" })), silent(false));
  assert.deepEqual(
    glance(answer([thinking, call], { usage: { a: [1, { b: 2 }] }, stopReason: "toolUse" })),
    silent(true),
  );
  assert.deepEqual(glance(answer([call], {}, { extra: { message: 1 } })), silent(true));
  assert.deepEqual(glance(answer([thinking, call], { stopReason: "aborted" })), speaks(true));
  assert.deepEqual(glance(answer([], { stopReason: "error" })), speaks(false));
  assert.deepEqual(glance(answer([text("hello"), call])), speaks());
  assert.deepEqual(glance(answer([thinking, text(""), text("t"), call])), speaks());
  assert.deepEqual(glance(answer([call, text("t")])), speaks(true));
});

test("[Y9] behind the first text of an answer nothing is looked at", () => {
  const record = answer([thinking, text("t")]);
  const end = record.indexOf('"t"') + 2;
  assert.deepEqual(glance(record.slice(0, end)), speaks());
  assert.deepEqual(glance(record.slice(0, end) + "}]".repeat(5)), speaks());
});

test("[Y9, U1] any character in front: the bytes never say otherwise than the parsed text", () => {
  let unsure = 0;
  for (let code = 0; code <= 0x10ffff; code += code < 0x3100 || (code > 0xf900 && code < 0x10000) ? 1 : 97) {
    const said = String.fromCodePoint(code).toWellFormed();
    for (const content of [said, ` \n\t\r${said}`]) {
      const seen = glance(answer([text(content)]));
      if (seen === undefined) unsure++;
      else assert.deepEqual(seen, isBlank(content) ? silent(false) : speaks(), `U+${code.toString(16)}`);
    }
  }
  assert.ok(unsure < 2 * 450, `${unsure} texts`);
});

test("[Y9] what the bytes do not tell for sure is left to the parser", () => {
  const none = answer([]);
  const unsure = [
    answer("bare"),
    answer([text("\u00a0")]),
    answer([text(" \u2003")]),
    answer([text("\b")]),
    answer([text("a")]).replace('"text":"a"', '"text":"\\u0061"'),
    answer([text(7)]),
    answer([{ text: "x", type: "text" }]),
    answer([7]),
    answer([], { stopReason: null }),
    answer([text("")]).replace('"text":""', '"text":"","text":" "'),
    answer([text("")]).replace('"text":""', '"text":"","type":"image"'),
    none.replace('"content"', '"content":[],"content"'),
    answer([text("a")]).replace('"text":"a"', '"te\\u0078t":"a"'),
    none.replace(/\}$/, ',"message":{}}'),
    none.replace('"content":', '"content": '),
    none.slice(0, -1),
    line("message", "a1", null, { message: { content: [], role: "assistant" } }),
    line("message", "a1", null, { before: {}, message: { role: "assistant", content: [] } }),
    line("message", ',"message":{"role":"assistant"', null, { message: { role: "user", content: [] } }),
    "{",
    "",
  ];
  assert.deepEqual(
    unsure.map((record) => glance(record)),
    unsure.map(() => undefined),
  );
});

/** The same session twice: as opened, and as one whose roles and bytes are not to be had. */
function bothWays(content: string): [OutlineSource, OutlineSource] {
  const [one, other] = [0, 1].map(() => {
    const reading = readSession(memorySource(bytesOf(content)));
    assert.equal(reading.kind, "session");
    return (reading as Extract<typeof reading, { kind: "session" }>).index;
  });
  const index = other!;
  return [
    one!,
    {
      size: index.size,
      leafOrdinal: index.leafOrdinal,
      at: (n) => index.at(n),
      kindAt: (n) => index.kindAt(n),
      parentOrdinal: (n) => index.parentOrdinal(n),
      treeChildren: (n) => index.treeChildren(n),
      treeProblemAt: (n) => index.treeProblemAt(n),
      ordinal: (id) => index.ordinal(id),
      labels: () => index.labels(),
    },
  ];
}

const rowsOf = (outline: Outline): OutlineRow[] => outline.rows(0, outline.rowCount);

test("[Y9, U1] rows are the same whether bodies are read or not, under every filter", () => {
  const random = new SeededRandom(4);
  const blocks = [text("x"), text(""), text("  "), text("é"), call, thinking, { type: "odd" }, null];
  const odd = Array.from({ length: 300 }, (_, n) =>
    line("message", `o${n}`, n === 0 ? null : `o${n - 1}`, {
      message: {
        role: random.pick(["assistant", "assistant", "user", "toolResult", "system", "hookMessage"]),
        content: random.pick([Array.from({ length: random.below(4) }, () => random.pick(blocks)), "bare", null]),
        stopReason: random.pick(["stop", "toolUse", "error", undefined, null]),
      },
    }),
  );
  const contents = [file(HEADER, ...odd), file(...generateSession({ shape: "bushy", entries: 800 }))];
  for (const content of contents)
    for (const filter of ["default", "no-tools", "user-only", "all"] as const) {
      const [asOpened, parsed] = bothWays(content).map((source) => new Outline(source, { filter }));
      assert.deepEqual(rowsOf(asOpened!), rowsOf(parsed!));
    }
});

test("[Y9] the first frame of a session parses no more than its screen, at any size", () => {
  for (const entries of [1000, 10_000]) {
    const content = file(...generateSession({ shape: "linear", entries }));
    const [index] = bothWays(content);
    let bodies = 0;
    const counted = Object.create(index!, {
      at: { value: (n: number) => (bodies++, index!.at(n)) },
      ...Object.fromEntries(
        (
          [
            "kindAt",
            "roleAt",
            "bytesAt",
            "parentOrdinal",
            "treeChildren",
            "treeProblemAt",
            "ordinal",
            "labels",
          ] as const
        ).map((name) => [name, { value: (n: never) => (index![name] as (n: never) => unknown).call(index, n) }]),
      ),
      size: { value: index!.size },
      leafOrdinal: { value: index!.leafOrdinal },
    }) as OutlineSource;
    const outline = new Outline(counted);
    assert.equal(bodies, 0);
    for (const { text } of outline.rows(outline.windowStart(50), 50, { width: 100 })) assert.ok(text.length > 0);
    // A tool result's row needs its call's body as well.
    assert.ok(bodies >= 50 && bodies <= 150, `${bodies} bodies of ${entries}`);
  }
});

test("[Y9] the first frame reads the file once at most, however its branches lie in it", () => {
  for (const entries of [2000, 20_000])
    for (const shape of ["linear", "bushy"] as const) {
      const content = bytesOf(file(...generateSession({ shape, entries })));
      const memory = memorySource(content);
      let bytes = 0;
      const reading = readSession({
        read: (offset, length) => {
          const part = memory.read(offset, length);
          bytes += part.length;
          return part;
        },
      });
      assert.equal(reading.kind, "session");
      if (reading.kind !== "session") return;
      bytes = 0;
      const outline = new Outline(reading.index);
      // And a line once more at each border of what was read at once.
      assert.ok(bytes <= 1.01 * content.length, `${shape}: ${bytes} bytes of ${content.length}`);
      bytes = 0;
      for (const { text } of outline.rows(outline.windowStart(25), 25, { width: 120 })) assert.ok(text.length > 0);
      assert.ok(bytes <= 2_000_000, `${shape}: ${bytes} bytes for a screen`);
    }
});

function searched(source: OutlineSource, options: OutlineOptions, act: (outline: Outline) => void): object {
  const outline = new Outline(source, options);
  act(outline);
  let slices = 0;
  while (outline.isSearching) {
    outline.searchOn(50);
    slices++;
  }
  const { selected, rowCount } = outline;
  return { rows: rowsOf(outline), selected, rowCount, sliced: slices > 0 };
}

test("[Y9, U1] a search in slices ends with the rows and the selection of a search at once", () => {
  const content = file(...generateSession({ shape: "bushy", entries: 900 }));
  for (const query of ["harbour", "user: lantern", "mark 1", "nothing has this", "read src"]) {
    const [source] = bothWays(content);
    const atOnce = searched(source, {}, (outline) => outline.setQuery(query));
    const inSlices = searched(source, { searchAtOnce: 60 }, (outline) => outline.setQuery(query));
    assert.deepEqual(inSlices, { ...atOnce, sliced: true });
  }
});

test("[Y9] a key of a search looks through its slice; what was found stays, and what the user chose", () => {
  const content = file(...generateSession({ shape: "linear", entries: 600 }));
  const [source] = bothWays(content);
  const outline = new Outline(source, { searchAtOnce: 100, filter: "all" });
  outline.setQuery("harbour");
  assert.equal(outline.isSearching, true);
  assert.ok(rowsOf(outline).every((row) => row.n >= 500));
  outline.home();
  const chosen = outline.selectedEntry!.id;
  while (outline.isSearching) outline.searchOn(100);
  assert.equal(outline.selectedEntry!.id, chosen);
  assert.equal(outline.searchOn(100), false);
  outline.setQuery("");
  assert.equal(outline.isSearching, false);
  assert.equal(outline.rowCount, source.size);
});
