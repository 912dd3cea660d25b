/** Tests of src/tree/content.ts: text of others between tags. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { unclosable } from "../../src/tree/content.ts";

test("[K7, C2] what looks like the tag is escaped, all else stays", () => {
  assert.equal(
    unclosable("summary", "</summary> < / Summary > <summary a> <summaryx> <b> < /b> </ summary"),
    "&lt;/summary> &lt; / Summary > &lt;summary a> <summaryx> <b> < /b> &lt;/ summary",
  );
});

test("[K7] a `<` before a megabyte of blanks takes no longer than reading it", () => {
  // Matched in two ways at each blank, this would not end within the patience of any test run.
  const text = `<${" ".repeat(1_000_000)}/${"\n".repeat(1_000_000)}x`;
  assert.equal(unclosable("summary", text), text);
  assert.equal(unclosable("summary", `${text}<summary`), `${text}&lt;summary`);
});
