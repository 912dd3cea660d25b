import assert from "node:assert/strict";
import { it } from "node:test";
import { humanizePlanTitle } from "../../src/agent/approved-plan.ts";

it("[P1] a plan's title becomes a session name", () => {
  const names: [title: string, name: string][] = [
    ["migrate-mcp-loader", "Migrate mcp loader"],
    ["fix_session_naming", "Fix session naming"],
    ["foo--bar__baz", "Foo bar baz"],
    ["a-_-b", "A b"],
    ["RefactorRouter", "RefactorRouter"],
    ["-_edges_-", "Edges"],
    ["  two  spaces  ", "Two  spaces"],
    ["äußeres", "Äußeres"],
    ["𐐨x", "𐐀x"],
    ["😀 party", "😀 party"],
  ];
  for (const [title, name] of names) assert.equal(humanizePlanTitle(title), name);
});

it("[P1] a title of nothing but blanks and separators gives no name", () => {
  for (const title of ["", "  ", "---", "_ -\t\n"]) assert.equal(humanizePlanTitle(title), "");
});
