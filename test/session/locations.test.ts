import assert from "node:assert/strict";
import { mkdirSync, readdirSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalPath, directoryKey, ensurePrivateDir, sessionFileName } from "../../src/session/locations.ts";
import { newEntryId, newSessionId } from "../../src/session/session-ids.ts";
import { temporaryFolder } from "../support/session-files.ts";

test("[D2] dB59 different directories never share a key, whatever their names have in common", () => {
  const paths = [
    "/a/b",
    "/a-b",
    "/a_b",
    "/a.b",
    "/A/b",
    "/a/b/c",
    "/a/b-c",
    "/x/测试",
    "/x/日本",
    "/",
    "/-",
    "/\u00e9",
    "/e\u0301",
    "/a b",
  ];
  const keys = paths.map((path) => directoryKey(path, "linux"));
  assert.equal(new Set(keys).size, paths.length);
  for (const key of keys) assert.match(key, /^(?:[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}._-]*-)?[0-9a-f]{12}$/u);
  assert.match(directoryKey("/home/u/my project", "linux"), /^home-u-my-project-[0-9a-f]{12}$/);
  assert.match(directoryKey("/x/测试", "linux"), /^x-测试-[0-9a-f]{12}$/);
});

test("[D2] dB59 spellings of one directory share a key where names ignore case", () => {
  assert.equal(directoryKey("D:\\p", "win32"), directoryKey("d:\\P", "win32"));
  assert.equal(directoryKey("D:/p", "win32"), directoryKey("d:\\p", "win32"));
  assert.match(directoryKey("D:\\p\\Q", "win32"), /^d-p-q-[0-9a-f]{12}$/);
  assert.equal(directoryKey("/Users/U/Proj", "darwin"), directoryKey("/users/u/proj", "darwin"));
  assert.equal(directoryKey("/x/e\u0301", "darwin"), directoryKey("/x/\u00e9", "darwin"));
  assert.notEqual(directoryKey("/A", "linux"), directoryKey("/a", "linux"));
});

test("[D2] dB59 a key is a name that every file system takes, however long the path", () => {
  for (const part of ["x", "日", "👩‍💻"]) {
    const paths = ["1", "2"].map((end) => `/${part.repeat(500)}/${part.repeat(500)}${end}`);
    const keys = paths.map((path) => directoryKey(path, "linux"));
    assert.notEqual(keys[0], keys[1]);
    for (const key of keys) assert.ok(Buffer.byteLength(key) <= 100 && key.isWellFormed());
  }
  for (const name of ["..", ".", "...", " ", "\n", "a\0b", "*?"])
    assert.doesNotMatch(directoryKey(`/${name}`, "linux"), /^\.|[/\\\0\n*?]/);
});

test("[D2] dB59 a directory reached through a link is the same directory", () => {
  const folder = realpathSync(temporaryFolder());
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "link"));
  assert.equal(canonicalPath(join(folder, "link")), join(folder, "real"));
  assert.equal(canonicalPath(join(folder, "link", "gone", "deeper")), join(folder, "real", "gone", "deeper"));
  assert.equal(canonicalPath(join(folder, "real", ".", "x", "..")), join(folder, "real"));
});

test("[W6] folders are made with their parents, for the user alone; those in which one was made are told", () => {
  const root = temporaryFolder();
  const deep = join(root, "a", "b", "c");
  assert.deepEqual(ensurePrivateDir(deep), [root, join(root, "a"), join(root, "a", "b")]);
  assert.deepEqual(
    ["a", "a/b", "a/b/c"].map((path) => statSync(join(root, path)).mode & 0o777),
    [0o700, 0o700, 0o700],
  );
  assert.deepEqual(ensurePrivateDir(deep), []);
});

test("[W6] a state folder that is a link to nothing is an error, not an endless search for its parent", () => {
  const root = temporaryFolder();
  const link = join(root, "state");
  symlinkSync(join(root, "nowhere"), link);
  assert.throws(() => ensurePrivateDir(join(link, "sessions", "x")), {
    code: "ENOENT",
    message: `${link} leads to a folder that does not exist`,
  });
  assert.deepEqual(readdirSync(root), ["state"]);
});

test("[F1] the file's name tells time and id, and is allowed everywhere", () => {
  assert.equal(sessionFileName("2026-01-02T03:04:05.678Z", "abc"), "2026-01-02T03-04-05-678Z_abc.jsonl");
});

test("[F5] an id that is taken is not given again; when all short ones are, a long one is", () => {
  const asked: string[] = [];
  const id = newEntryId((candidate) => asked.push(candidate) < 3);
  assert.deepEqual([asked.length, asked[2]], [3, id]);
  const long = newEntryId((candidate) => candidate.length === 8);
  assert.match(long, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
});

test("[F5] session ids are UUIDs of version 7 and sort by time", () => {
  const ids = [0, 1, 1_767_225_600_000, 1_767_225_600_001].map((time) => newSessionId(time));
  assert.deepEqual(
    ids.map((id) => id.slice(0, 13)),
    ["00000000-0000", "00000000-0001", "019b76da-a800", "019b76da-a801"],
  );
  assert.deepEqual([...ids].sort(), ids);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
