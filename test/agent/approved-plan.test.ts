/** From a plan's title to a session's name. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { humanizePlanTitle, planTitle } from "../../src/agent/approved-plan.ts";

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

it("[P1] of any title: no separators, no blank ends, everything else in its order, and the same again", () => {
  const title = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("-", "_", " ", "a", "B", "é", "\t", "😀") }),
  );
  fc.assert(
    fc.property(title, (given) => {
      const name = humanizePlanTitle(given);
      assert.doesNotMatch(name, /[-_]/);
      assert.equal(name, name.trim());
      const rest = (text: string): string => text.replace(/[-_\s]/g, "");
      assert.equal(rest(name).toUpperCase(), rest(given).toUpperCase());
      assert.equal(humanizePlanTitle(name), name);
      assert.equal(name === "", /^[-_\s]*$/.test(given));
    }),
  );
});

it("[P1] the title is the model's, else the first heading, else the file's name", () => {
  const path = "/plans/s/old-name.md";
  const titles: [given: string | undefined, plan: string, title: string][] = [
    ["fix-it", "# Heading", "fix-it"],
    ["Fix the naming.md", "# Heading", "Fix-the-naming"],
    ["  ", "Text\n## Second\n# First *heading* ", "First-heading"],
    [undefined, "# ../../etc/passwd\u0000\n", "etcpasswd"],
    [undefined, "no heading", "old-name"],
    [undefined, "#no heading\n#\n", "old-name"],
    ["/:*", "# <>", "old-name"],
    ["---", "# Heading", "---"],
    ["x".repeat(100), "", "x".repeat(60)],
    ["a\u202eb\ud800", "", "ab"],
  ];
  for (const [given, plan, title] of titles)
    assert.equal(planTitle({ plan, path, ...(given === undefined ? {} : { given }) }), title);
  assert.equal(planTitle({ plan: "", path: "/..md" }), "plan");
});
