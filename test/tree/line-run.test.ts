import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { crc32 } from "node:zlib";
import type { SessionEntryIndex } from "../../src/tree/entry-index.ts";
import { parseBody } from "../../src/tree/line-parser.ts";
import { LARGEST_RUN, LONGEST_RUN, parseRun } from "../../src/tree/line-run.ts";
import { readSession } from "../../src/tree/reader.ts";
import { sealedLine } from "../../src/session/sealed-line.ts";
import { generateSession } from "../support/generate.ts";
import { HEADER, at, bytesOf, file, memorySource, message } from "../support/session-lines.ts";

const checksum = (bytes: Uint8Array): number => crc32(bytes);

/** The bodies of lines, parsed together and one by one. */
function bothWays(...lines: string[]): { together: unknown; apart: unknown } {
  const parts = lines.map((text) => bytesOf(text));
  const together = parseRun(
    bytesOf(lines.join("\n")),
    parts.map(({ length }) => length),
    checksum,
  );
  return { together, apart: parts.map((bytes) => parseBody(bytes, checksum)) };
}

const SEALED = sealedLine(JSON.parse(message("a3", "a2")) as object);

test("[Y4, F6] lines parsed together give the bodies that each of them gives alone", () => {
  const lines = [
    message("a1", null),
    `${message("a2", "a1")}\r`,
    SEALED,
    SEALED.replace("a2", "a7"),
    line({ c: "none of bough's" }),
    `{"type":"custom","id":"odd\\u0061","parentId":"a3","timestamp":"${at(4)}","customType":"\u00fc\u{1f333}\u2028"}`,
    `{"type":"message","id":"twice","parentId":"a1","timestamp":"${at(5)}","message":{"role":"user"},"id":"b"}`,
    `{"type":"message","id":"roles","parentId":"a1","timestamp":"${at(5)}","message":{"role":"user","role":"tool"}}`,
  ];
  const { together, apart } = bothWays(...lines);
  assert.deepEqual(together, apart);
});

function line(fields: object): string {
  return JSON.stringify({ type: "custom", id: "x", parentId: "y", timestamp: at(1), ...fields });
}

test("[F6] lines of which one is no record of its own are left to be parsed one by one", () => {
  const begins = (id: string): string => `{"type":"custom","id":"${id}","parentId":"r","timestamp":"${at(1)}"`;
  for (const [what, ...lines] of [
    ["torn", message("a1", null), message("a2", "a1").slice(0, -1)],
    ["a list", message("a1", null), "[]"],
    ["no UTF-8 in a text", message("a1", null), "\udc00"],
    ["one that the next would end", `${begins("a1")},"x":[1`, `${begins("a2")}]}`],
    [
      "two in the first, and the next two torn into one",
      `${begins("a1")}},${begins("a2")}}`,
      `${begins("a2")},"x":[`,
      `${begins("a3")}],"id":"a3"}`,
    ],
    ["a text over two lines", `${begins("a1")},"x":"`, `"}`],
  ] as const)
    assert.equal(bothWays(...lines).together, undefined, what);
  const bytes = bytesOf(`${message("a1", null)} ${message("a2", "a1")}`);
  const { length } = message("a1", null);
  assert.equal(parseRun(bytes, [length, bytes.length - length - 1]), undefined, "no newline between them");
});

/** Counts what JSON.parse is asked for while the test runs. */
function parseCalls(t: TestContext): () => number {
  const parse = t.mock.method(JSON, "parse");
  return () => {
    const count = parse.mock.callCount();
    parse.mock.resetCalls();
    return count;
  };
}

const indexOf = (content: string): SessionEntryIndex => {
  const reading = readSession(memorySource(content));
  assert.equal(reading.kind, "session");
  return (reading as Extract<typeof reading, { kind: "session" }>).index;
};

test("[Y4, Y6] the entries of a path are parsed 32 at a time where their lines follow one another", (t) => {
  const content = file(...generateSession({ shape: "linear", entries: 2000 }));
  const index = indexOf(content);
  const path = index.pathOrdinals(index.leafId);
  const calls = parseCalls(t);
  const together = index.all(path, { keep: false });
  assert.ok(calls() <= path.length / LONGEST_RUN + content.length / (LARGEST_RUN / 2));
  const apart = path.map((n) => index.readOnce(n));
  assert.ok(calls() >= path.length - 100);
  assert.deepEqual(together, apart);
});

test("[Y4] of what was read together that is kept which shall be", (t) => {
  const index = indexOf(file(HEADER, message("a1", null), message("a2", "a1"), message("a3", "a2")));
  const calls = parseCalls(t);
  index.all([0, 1, 2], { keep: false });
  assert.equal(calls(), 1);
  index.all([0, 1, 2]);
  assert.equal(calls(), 1);
  index.at(1);
  index.all([2, 0]);
  assert.equal(calls(), 0);
});
