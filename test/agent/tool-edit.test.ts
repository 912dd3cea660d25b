/**
 * The edit tool on real files.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { editTool } from "../../src/agent/tools/edit.ts";
import { temporaryFolder } from "../support/session-files.ts";
import { callTool } from "../support/tool-call.ts";

/** A folder with `a.txt`. */
function setUp(content: string | Uint8Array) {
  const cwd = temporaryFolder();
  const path = join(cwd, "a.txt");
  fs.writeFileSync(path, content);
  const tool = editTool(cwd);
  return {
    cwd,
    path,
    edit: (...edits: [oldText: string, newText: string][]) =>
      callTool(tool, { path: "a.txt", edits: edits.map(([oldText, newText]) => ({ oldText, newText })) }),
    call: (args: object) => callTool(tool, args),
    content: () => fs.readFileSync(path, "utf8"),
    bytes: () => fs.readFileSync(path, "latin1"),
  };
}

test("[A5] several exact replacements in one call, with a diff as the result", async () => {
  const file = setUp("one\ntwo\nthree\nfour\n");
  const { text, details, isError } = await file.edit(["three", "3\n3b"], ["two", "2"]);
  assert.deepEqual([text, isError], ["Edited a.txt: 2 replacements, first at line 2 (+3 -2).", false]);
  assert.deepEqual(details, {
    path: file.path,
    diff: "--- a.txt\n+++ a.txt\n@@ -1,4 +1,5 @@\n one\n-two\n-three\n+2\n+3\n+3b\n four\n",
    firstChangedLine: 2,
  });
  assert.equal(file.content(), "one\n2\n3\n3b\nfour\n");
});

test("[A5] one edit without the list, the list as JSON, a single object as the list", async () => {
  const file = setUp("a b c");
  await file.call({ path: "a.txt", oldText: "a", newText: "A" });
  await file.call({ path: "a.txt", edits: JSON.stringify([{ oldText: "b", newText: "B" }]) });
  await file.call({ path: "a.txt", edits: { oldText: "c", newText: "C" } });
  assert.equal(file.content(), "A B C");
});

test("[A5] newText is taken as it is, and may be empty", async () => {
  const file = setUp("price: X, gone");
  await file.edit(["X", "$& $1 $$"], [", gone", ""]);
  assert.equal(file.content(), "price: $& $1 $$");
});

test("[A5] CRLF, BOM and mixed line ends stay, also in what is put in", async () => {
  const crlf = setUp("\ufeffone\r\ntwo\r\nthree\r\n");
  assert.equal((await crlf.edit(["one\ntwo\n", "1\n1b\n2\n"], ["three", "3"])).isError, false);
  assert.equal(crlf.content(), "\ufeff1\r\n1b\r\n2\r\n3\r\n");
  const mixed = setUp("one\r\ntwo\nthree\nfour\r\nend");
  await mixed.edit(["three", "3\n3b"], ["one\r\n", "1\n1b\n"], ["end", "e\nf"]);
  assert.equal(mixed.content(), "1\r\n1b\r\ntwo\n3\n3b\nfour\r\ne\r\nf");
  const between = setUp("a\r\nb\r\nc");
  await between.edit(["\nb\n", "\nB\n"]);
  assert.equal(between.content(), "a\r\nB\r\nc");
});

test("[A5] bytes that are not UTF-8 survive beside the change", async () => {
  const file = setUp(Buffer.from("gr\xfc\xdfe\nold\n\xff\xfe", "latin1"));
  await file.edit(["old", "nëw"]);
  assert.equal(file.bytes(), "gr\xfc\xdfe\nn\xc3\xabw\n\xff\xfe");
});

test("[A5] text that does not occur: nothing is changed, and the nearest place is named", async () => {
  const source = "function a() {\n    return 1;\n}\n\nfunction b() {\n    return 2;\n}\n";
  const file = setUp(source);
  const said = async (oldText: string) => {
    const { text, isError } = await file.edit([oldText, "x"]);
    assert.equal(isError, true);
    return text.replace("Edit 1: oldText does not occur in a.txt, which was not changed. ", "");
  };
  assert.equal(
    await said("function b() {\n  return 2;\n}"),
    "Lines 5-7 have the same words but other white space; read them and copy exactly.",
  );
  assert.equal(
    await said("function b() {\n    return 3;\n}"),
    'The nearest place is at line 5; the first difference is line 6: "    return 2;".',
  );
  assert.equal(await said("    return 22;"), 'The nearest line is 6: "    return 2;".');
  assert.equal(
    await said("}\n\nfunction c"),
    'The nearest place is at line 3; the first difference is line 5: "function b() {".',
  );
  assert.equal(await said("return 2;\n}\nend"), 'The nearest place is at line 6; the first difference is line 8: "".');
  assert.equal(await said("something else entirely"), "No part of it is there (8 lines); read the file again.");
  assert.equal(file.content(), source);
});

test("[A5] text that is not unique, empty, unchanged or overlapping changes nothing", async () => {
  const file = setUp("x\nab\nx\nab\nabc\n");
  const said = async (...edits: [string, string][]) => {
    const { text, isError } = await file.edit(...edits);
    assert.equal(isError, true);
    return text;
  };
  assert.equal(
    await said(["ab", "y"]),
    "Edit 1: oldText occurs 3 times in a.txt, starting at lines 2, 4, 5; nothing was changed, so add lines around it until it is unique.",
  );
  assert.equal(
    await said(["abc", "y"], ["", "y"]),
    "Edit 2: oldText is empty, so there is nothing to look for in a.txt; use write for a whole file.",
  );
  assert.equal(await said(["abc", "abc"]), "Edit 1: oldText and newText are the same, so a.txt was not changed.");
  assert.equal(
    await said(["ab\nabc", "y"], ["abc\n", "z"]),
    "Edit 1 and Edit 2 change the same text of a.txt; nothing was changed, so make them one edit.",
  );
  assert.equal(file.content(), "x\nab\nx\nab\nabc\n");
});

test("[A5] many occurrences are named up to ten lines and counted up to a thousand", async () => {
  const file = setUp("ab\n".repeat(5000));
  assert.equal(
    (await file.edit(["ab", "y"])).text,
    "Edit 1: oldText occurs 1000 times in a.txt, starting at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; " +
      "nothing was changed, so add lines around it until it is unique.",
  );
});

test("[A5] only existing text files are edited", async () => {
  const file = setUp(Buffer.from("\ufeffa", "utf16le"));
  fs.writeFileSync(join(file.cwd, "b.bin"), "a\0b");
  fs.mkdirSync(join(file.cwd, "c"));
  const said = async (path: string) => (await file.call({ path, oldText: "a", newText: "b" })).text;
  assert.equal(
    await said("a.txt"),
    "a.txt is UTF-16 text, which edit cannot change; convert it with bash (iconv) first.",
  );
  assert.equal(
    await said("b.bin"),
    "b.bin is a binary file (3 bytes), so its content is not shown; use bash with a program that knows the format.",
  );
  assert.equal(await said("c"), "c is a directory; use ls to see what is in it.");
  assert.equal(await said("a.text"), "a.text does not exist. Did you mean a.txt?");
});

test("[A5] the file is read at the moment of the edit, and edits of one file follow one another", async () => {
  const file = setUp("0\n");
  const edits = Array.from({ length: 20 }, (_, n) => file.edit([`${n}\n`, `${n}\n${n + 1}\n`]));
  const outcomes = await Promise.all(edits);
  assert.deepEqual(
    outcomes.filter((outcome) => outcome.isError),
    [],
  );
  assert.equal(file.content(), `${Array.from({ length: 21 }, (_, n) => n).join("\n")}\n`);
});

test("[A5] a failed edit does not hold up the next one, and links share one queue", async () => {
  const file = setUp("a\n");
  fs.symlinkSync("a.txt", join(file.cwd, "link"));
  const [failed, first, second] = await Promise.all([
    file.edit(["missing", "x"]),
    file.edit(["a", "b"]),
    file.call({ path: "link", oldText: "b", newText: "c" }),
  ]);
  assert.deepEqual([failed.isError, first.isError, second.isError], [true, false, false]);
  assert.equal(file.content(), "c\n");
  assert.equal(fs.readlinkSync(join(file.cwd, "link")), "a.txt");
});
