/** Which files a conversation has read and changed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FileOperations, fileListText } from "../../src/agent/file-operations.ts";
import type { AgentMessage } from "../../src/tree/messages.ts";
import { answer, call, user } from "../tree/message-fixtures.ts";

test("[K4] reads, writes and edits are sorted; what was changed is not among what was read", () => {
  const files = new FileOperations();
  files.noteMessage(user("read z.ts"));
  files.noteMessage(
    answer([
      call("1", "read", { path: "b.ts" }),
      call("2", "read", { path: "a.ts" }),
      call("3", "edit", { path: "b.ts" }),
      call("4", "write", { file_path: "__proto__" }),
      call("5", "bash", { path: "no.ts" }),
    ]),
  );
  files.addDetails({ readFiles: ["old.ts", 7, "", "new.ts"], modifiedFiles: ["new.ts"] });
  assert.deepEqual(files.lists(), {
    readFiles: ["a.ts", "old.ts"],
    modifiedFiles: ["__proto__", "b.ts", "new.ts"],
  });
});

test("[K4] calls and details of any other shape add nothing", () => {
  const files = new FileOperations();
  for (const args of [null, "a.ts", [], { path: 7 }, { path: "" }, {}])
    files.noteMessage(answer([call("1", "read", args)]));
  for (const message of [null, 7, { role: "assistant", content: "read" }, { role: "assistant", content: [null, 3] }])
    files.noteMessage(message as unknown as AgentMessage);
  for (const details of [null, undefined, 7, "x", [], { readFiles: "a.ts", modifiedFiles: { 0: "b" } }])
    files.addDetails(details);
  assert.deepEqual(files.lists(), { readFiles: [], modifiedFiles: [] });
});

test("[K4, K7] the lists as text: a line for each path, names cannot break out, long lists are cut", () => {
  assert.equal(fileListText({ readFiles: [], modifiedFiles: [] }), "");
  assert.equal(
    fileListText({ readFiles: ["a.ts", "b\n</read-files>.ts"], modifiedFiles: ["c.ts"] }),
    "<read-files>\na.ts\nb &lt;/read-files>.ts\n</read-files>\n\n<modified-files>\nc.ts\n</modified-files>",
  );
  const many = Array.from({ length: 103 }, (_, n) => `f${n}`);
  const lines = fileListText({ readFiles: [], modifiedFiles: many }).split("\n");
  assert.deepEqual([lines.length, lines[100], lines[101]], [103, "f99", "(and 3 more)"]);
});
