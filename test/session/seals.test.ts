import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose } from "../../src/session/doctor.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { checksum, sealedLine } from "../../src/session/sealed-line.ts";
import { trackSession } from "../support/laws.ts";
import { contentOf, temporaryFile, temporaryFolder, user } from "../support/session-files.ts";
import { readSession } from "../../src/tree/reader.ts";
import {
  HEADER,
  bytesOf,
  codes,
  file,
  line,
  memorySource,
  message,
  picture,
  read,
  sealed,
  unsealed,
} from "../support/session-lines.ts";

const linesOf = (path: string): string[] => contentOf(path).split("\n").slice(0, -1);

/** Entries and problems of a file that is opened for reading. */
async function opened(path: string): Promise<{ entries: unknown[]; codes: string[] }> {
  const session = await SessionManager.open(path, { readOnly: true });
  try {
    return { entries: session.getEntries(), codes: codes(session.getProblems()) };
  } finally {
    await session.close();
  }
}

test("[W7] every line ends with the CRC-32 of the bytes before it, and no entry or header shows it", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.setSessionName("named");
  const first = session.appendMessage(user('quotes ",\\"c\\":\\"00000000\\"}", é, \ud83d, \u2028'));
  session.appendMessage(user("two"));
  session.branch(first);
  await session.flush();
  const path = session.getSessionFile()!;
  for (const text of linesOf(path)) assert.match(text, /^\{"type":.*,"c":"[0-9a-f]{8}"\}$/s);
  assert.deepEqual(
    linesOf(path).map((text) => "c" in (JSON.parse(unsealed(text)) as object)),
    [false, false, false, false, false],
  );
  const again = trackSession(t, await SessionManager.open(path, { readOnly: true }));
  assert.deepEqual([again.getHeader(), again.getProblems()], [session.getHeader(), []]);
  assert.deepEqual(again.getEntries(), JSON.parse(JSON.stringify(session.getEntries())));
});

test("[W7] a known value: the seal of a line as docs/format.md shows it", () => {
  const shown = /^\{"type":"label","id":"0c5a7e11".*$/m.exec(
    contentOf(new URL("../../docs/format.md", import.meta.url).pathname),
  )![0];
  assert.equal(sealedLine(JSON.parse(unsealed(shown)) as object), shown);
  assert.equal(checksum(Buffer.from("123456789")), 0xcbf43926);
});

test("[W7, F4] a member named c that is no seal is kept, also below a seal", async () => {
  const own =
    '{"type":"custom","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"x","c":"mine"}';
  const both = sealed(own.replace("a1", "a2"));
  const nested = line("custom", "a3", null, { customType: "x", data: { c: "0123abcd" } });
  const { entries, codes: found } = await opened(temporaryFile(file(HEADER, own, both, nested)));
  assert.deepEqual(
    entries,
    [own, own.replace("a1", "a2"), nested].map((text) => JSON.parse(text) as unknown),
  );
  assert.deepEqual(found, []);
});

test("[W7] each changed line is told of, each once, and its entry loads as it is", async () => {
  const lines = [HEADER, message("a1", null), message("a2", "a1"), message("a3", "a2")].map(sealed);
  lines[2] = lines[2]!.replace('"content":"a2"', '"content":"A2"');
  const path = temporaryFile(file(...lines));
  const { entries, codes: found } = await opened(path);
  assert.deepEqual(found, ["changed-line:3"]);
  assert.deepEqual(
    (entries as { message: { content: string } }[]).map((entry) => entry.message.content),
    ["a1", "A2", "a3"],
  );
  const { problems, notes } = diagnose(path);
  assert.deepEqual([problems, codes(notes)], [[], ["changed-line:3"]]);
});

test("[W7] lines without a seal are told of once where the header has one, and nowhere else", async () => {
  const foreign = [message("a1", null), message("a2", "a1")];
  const { entries, codes: found } = await opened(
    temporaryFile(file(sealed(HEADER), ...foreign, sealed(message("a3", "a2")))),
  );
  assert.deepEqual([entries.length, found], [3, ["unverified-lines:2"]]);
  const old = await opened(temporaryFile(file(HEADER, ...foreign, sealed(message("a3", "a2")))));
  assert.deepEqual([old.entries.length, old.codes], [3, []]);
});

test("[W7] one changed bit in the header's own seal is told of or refused, whichever it is", () => {
  const header = sealed(HEADER);
  const lines = file(header, ...[message("a1", null), message("a2", "a1")].map(sealed));
  const start = header.lastIndexOf(',"c":"');
  const untold: string[] = [];
  for (let n = 8 * start; n < 8 * header.length; n++) {
    const bytes = Buffer.from(lines);
    bytes[n >> 3]! ^= 1 << (n & 7);
    const reading = readSession(memorySource(bytes), { checksum });
    if (reading.kind === "invalid") continue;
    assert.ok(reading.kind === "session");
    assert.deepEqual([reading.index.size, reading.hasSeals], [2, true]);
    if (!codes(reading.index.problems).includes("changed-line:1")) untold.push(`bit ${n & 7} of byte ${n >> 3}`);
  }
  assert.deepEqual(untold, []);
});

test("[W7, F4] another program's header that ends with a short member is as it was", () => {
  const header = HEADER.replace(/\}$/, ',"b":"notasealatall"}');
  const reading = readSession(memorySource(file(header, message("a1", null))), { checksum });
  assert.ok(reading.kind === "session");
  assert.deepEqual([reading.hasSeals, reading.header["b"], reading.index.problems], [false, "notasealatall", []]);
});

test("[W7, T7] a copied line keeps its bytes and its seal; one with a new parent gets a seal that fits", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  const one = session.appendMessage(user("one"));
  session.appendLabelChange(one, "here");
  const two = session.appendMessage(user("two"));
  const source = linesOf(session.getSessionFile()!);
  const copy = linesOf(session.createBranchedSession(two)!);
  assert.equal(copy[1], source[1]);
  const moved = JSON.parse(unsealed(source[3]!)) as object;
  assert.equal(copy[2], sealed(JSON.stringify({ ...moved, parentId: one })));
  assert.deepEqual(diagnose(session.getSessionFile()!).notes, []);
});

test("[W7, F6] FT11 any flipped bit of a sealed file is told of, or costs at most two lines", async (t) => {
  const session = SessionManager.create("/w", temporaryFolder());
  for (let n = 0; n < 6; n++) session.appendMessage(user(`message ${n}`));
  await session.close();
  const path = session.getSessionFile()!;
  const sound = Buffer.from(contentOf(path));
  const header = sound.indexOf(0x0a);
  const expected = new Set(session.getEntries().map((entry) => JSON.stringify(entry)));
  for (let bit = 0; bit < 8 * sound.length; bit += 3) {
    const bytes = Buffer.from(sound);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    const reading = read(bytes, { checksum });
    // A broken header refuses the file.
    if (reading.kind !== "session") {
      assert.ok(bit >> 3 <= header);
      continue;
    }
    const entries = reading.index.entries().map((entry) => JSON.stringify(entry));
    const wrong = entries.filter((entry) => !expected.has(entry)).length;
    const lost = expected.size - (entries.length - wrong);
    assert.ok(wrong === 0 || reading.index.problems.length > 0, `bit ${bit}: a wrong entry and no word of it`);
    assert.ok(lost <= 2, `bit ${bit}: ${lost} entries lost`);
  }
  t.diagnostic(`${Math.ceil((8 * sound.length) / 3)} flips`);
});

test("[W7, T7, M2] the header of a copy is sealed if its source's was: other programs' lines are no news in it", async (t) => {
  const folder = temporaryFolder();
  const foreign = temporaryFile(
    file(HEADER.replace('"version":3', '"version":2'), message("a1", null), message("a2", "a1")),
  );
  const migrated = trackSession(t, await SessionManager.open(foreign));
  const fork = trackSession(t, await SessionManager.forkFrom(foreign, "/w", folder));
  fork.appendMessage(user("ours"));
  const branch = trackSession(t, await SessionManager.open(migrated.exportBranch("a2")));
  assert.deepEqual(
    [migrated, fork, branch].map((session) => session.getProblems()),
    [[], [], []],
  );
  const own = SessionManager.create("/w", folder);
  own.appendMessage(user("ours"));
  await own.close();
  const copy = trackSession(t, await SessionManager.forkFrom(own.getSessionFile()!, "/w", folder));
  const headers = [migrated, fork, branch, copy].map((session) => linesOf(session.getSessionFile()!)[0]!);
  assert.deepEqual(
    headers.map((header) => header !== unsealed(header)),
    [false, false, false, true],
  );
});

test("[W7] a reader without a checksum takes seals off all the same", () => {
  const lines = [HEADER, message("a1", null)];
  const strip = (content: string): unknown => {
    const { origins: _, bytes: __, hasSeals: ___, ...rest } = picture(read(content)) as Record<string, unknown>;
    return rest;
  };
  assert.deepEqual(strip(file(...lines.map(sealed))), strip(file(...lines)));
});

test("[W7, Y7] opening checks the seals of the lines it parses; the others when they are read, each told once", () => {
  const lines = [
    HEADER,
    message("a1", null),
    message("a2", "a1"),
    line("label", "l1", "a2", { targetId: "a1", label: "x" }),
  ];
  const content = file(...lines.map(sealed)).replace('"content":"a2"', '"content":"A2"');
  let checked = 0;
  const counted = (bytes: Uint8Array): number => {
    checked++;
    return checksum(bytes);
  };
  const reading = readSession(memorySource(bytesOf(content)), { checksum: counted });
  assert.ok(reading.kind === "session");
  const { index } = reading;
  assert.deepEqual([checked, codes(index.problems)], [2, []]);
  index.at(0);
  assert.deepEqual([checked, codes(index.problems)], [3, []]);
  for (let times = 0; times < 2; times++) index.readAll();
  assert.deepEqual(
    [index.at(1), codes(index.problems)],
    [JSON.parse(lines[2]!.replace('"content":"a2"', '"content":"A2"')), ["changed-line:3"]],
  );
});

test("[W7, W1] what was appended is read back by its seal, and entries that waited for the first content have none to check", async (t) => {
  const session = trackSession(t, SessionManager.create("/w", temporaryFolder()));
  session.setSessionName("waits");
  const ids = [session.appendMessage(user("one")), session.appendMessage(user("two"))];
  assert.deepEqual(
    session.getEntries().map(({ id }) => session.getIndex().originOf(id)?.line),
    [undefined, 3, 4],
  );
  session.getIndex().readAll();
  assert.deepEqual(
    [
      session
        .getBranch()
        .slice(1)
        .map(({ id }) => id),
      session.getProblems(),
    ],
    [ids, []],
  );
});
