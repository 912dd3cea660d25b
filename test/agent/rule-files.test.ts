/** Rule files: the head of a Markdown file, what makes a rule, and what is said of those that make none. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { readFrontMatter } from "../../src/agent/front-matter.ts";
import { loadRules, readRule } from "../../src/agent/rule-files.ts";
import type { StreamRule } from "../../src/agent/rule-files.ts";
import { projectTrust, trustProject } from "../../src/agent/trust.ts";
import { temporaryFolder } from "../support/session-files.ts";

const file = (...lines: string[]): { path: string; text: string } => ({ path: "/r/x.md", text: lines.join("\n") });
const problemOf = (...lines: string[]): string => {
  const { rule, problems } = readRule(file(...lines));
  assert.equal(rule, undefined);
  assert.equal(problems.length, 1);
  return problems[0]!;
};
const rule = (...head: string[]): StreamRule => {
  const read = readRule(file("---", ...head, "---", "Say no."));
  assert.deepEqual(read.problems, []);
  return read.rule!;
};

test("[P2] a head of keys, lists, quotes and comments; the rest is the body", () => {
  const head = readFrontMatter(
    [
      "---",
      "# a comment",
      "name: a b # no comment",
      "condition:",
      "  - console\\.log\\(",
      "- 'it''s'",
      '- "tab\\there"',
      "empty:",
      "",
      "--- ",
      "",
      "Body",
      "---",
      "more",
      "",
    ].join("\r\n"),
  );
  assert.ok("values" in head);
  assert.deepEqual(
    [...head.values],
    [
      ["name", [{ text: "a b # no comment", line: 3 }]],
      [
        "condition",
        [
          { text: "console\\.log\\(", line: 5 },
          { text: "it's", line: 6 },
          { text: "tab\there", line: 7 },
        ],
      ],
      ["empty", []],
    ],
  );
  assert.deepEqual([head.lineOf("condition"), head.lineOf("nothing"), head.body], [4, 1, "Body\n---\nmore"]);
});

test("[P2] a file without a head is all body", () => {
  const head = readFrontMatter("\ufeff\nText\n---\n");
  assert.ok("values" in head);
  assert.deepEqual([head.values.size, head.body], [0, "Text\n---"]);
});

test("[P2] any text at all is read or refused with one of its lines", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "---",
      "name: x",
      "condition: [",
      "- a",
      "  - b",
      "x",
      "# c",
      "",
      'k: "',
      "k: |",
      "scope: tool:w(*)",
    ),
    fc.string({ maxLength: 12 }),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const { rule: read, problems } = readRule(file(...lines));
      assert.ok(read !== undefined || problems.length === 1);
      for (const problem of problems) {
        const number = Number(/^\/r\/x\.md:(\d+): ./.exec(problem)?.[1]);
        assert.ok(number >= 1 && number <= lines.join("\n").split(/\r?\n/).length, problem);
      }
    }),
  );
});

test("[P2] a rule has a name, conditions, scopes and modes, or their defaults", () => {
  const { conditions, scopes, ...rest } = rule("condition: a.c");
  assert.deepEqual(conditions, [/a.c/g]);
  assert.deepEqual(scopes, [{ stream: "text" }, { stream: "tool" }]);
  assert.deepEqual(rest, {
    name: "x",
    text: "Say no.",
    interrupt: "always",
    repeat: "once",
    gap: 10,
    place: "/r/x.md:2",
  });
  const full = rule(
    "name: no-logs",
    "description: for people",
    "condition:",
    "  - one",
    "  - two",
    "flags: is",
    "scope: thinking, tool:bash",
    "interrupt: never",
    "repeat: after-gap",
    "gap: 3",
  );
  assert.deepEqual(full, {
    name: "no-logs",
    text: "Say no.",
    conditions: [/one/gis, /two/gis],
    scopes: [{ stream: "thinking" }, { stream: "tool", tool: "bash" }],
    interrupt: "never",
    repeat: "after-gap",
    gap: 3,
    place: "/r/x.md:5",
  });
});

test("[P2] a scope may name a tool and the files it works on", () => {
  const { scopes } = rule("condition: a", "scope:", "  - tool:edit(src/**/*.{ts,tsx}), text");
  const [edit, text] = scopes;
  assert.ok(edit?.stream === "tool" && edit.fitsPath !== undefined);
  assert.deepEqual(
    ["src/a.ts", "src/b/c.tsx", "a.ts", "src/a.js"].map((path) => edit.fitsPath!(path)),
    [true, true, false, false],
  );
  assert.deepEqual([edit.tool, text, scopes.length], ["edit", { stream: "text" }, 2]);
});

test("[P2] what makes no sense is said in one sentence with file and line, and the rule is ignored", () => {
  const refused: [lines: string[], said: RegExp][] = [
    [
      ["Be nice."],
      /^\/r\/x\.md:1: a rule needs a "condition" in its head, between two lines ---; the rule is ignored\.$/,
    ],
    [["---", "condition: a", "Text"], /^\/r\/x\.md:1: the head that begins with --- has no end; close it/],
    [
      ["---", "name: a", "condition: (", "---", "T"],
      /^\/r\/x\.md:3: the condition is no regular expression: .*; the rule/,
    ],
    [["---", "condition:", "  - a", "  - '[b'", "---", "T"], /^\/r\/x\.md:4: the condition is no regular expression/],
    [["---", "condition: a", "---", " "], /^\/r\/x\.md:2: there is no text below the head to tell the model/],
    [["---", "condition: a", "condition: b", "---", "T"], /^\/r\/x\.md:3: "condition" stands here twice/],
    [["---", "condition a", "---", "T"], /^\/r\/x\.md:2: this is neither "key: value" nor a "- value" of a list/],
    [["---", "- a", "---", "T"], /^\/r\/x\.md:2: this value belongs to no key/],
    [["---", "condition: a", "- b", "---", "T"], /^\/r\/x\.md:3: this value belongs to no key/],
    [["---", "condition: |", "---", "T"], /^\/r\/x\.md:2: this value cannot be read; write it on one line/],
    [["---", 'condition: "a', "---", "T"], /^\/r\/x\.md:2: this value cannot be read/],
    [["---", "condition: a", "flags: gy", "---", "T"], /^\/r\/x\.md:3: "flags" takes letters of i, m, s and u/],
    [
      ["---", "condition: a", "scope: prose", "---", "T"],
      /^\/r\/x\.md:3: "prose" is no scope; there are text, thinking/,
    ],
    [["---", "condition: a", "scope: tool:w([)", "---", "T"], /^\/r\/x\.md:3: "\[" is no file pattern/],
    [
      ["---", "condition: a", "interrupt: maybe", "---", "T"],
      /^\/r\/x\.md:3: "interrupt" is one of always, prose-only/,
    ],
    [["---", "condition: a", "repeat: twice", "---", "T"], /^\/r\/x\.md:3: "repeat" is one of once, after-gap/],
    [["---", "condition: a", "gap: 0", "---", "T"], /^\/r\/x\.md:3: "gap" is a number of messages, from 1 on/],
    [["---", "condition: a", "name: ''", "---", "T"], /^\/r\/x\.md:3: the name is blank/],
    [["---", "condition: a", "name:", "  - b", "  - c", "---", "T"], /^\/r\/x\.md:5: "name" takes one value/],
  ];
  for (const [lines, said] of refused) assert.match(problemOf(...lines), said);
});

test("[P2] a key that means nothing is told; the rule works all the same", () => {
  const { rule: read, problems } = readRule(file("---", "condition: a", "scop: text", "---", "T"));
  assert.equal(read?.name, "x");
  assert.deepEqual(problems, ['/r/x.md:3: "scop" means nothing in a rule.']);
});

/** A state folder and a project, each with rules. */
function places(files: Record<string, string>): { stateDir: string; cwd: string } {
  const [stateDir, cwd] = [temporaryFolder(), temporaryFolder()];
  for (const [name, text] of Object.entries(files)) {
    const path = join(name.startsWith("rules/") ? stateDir : cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { stateDir, cwd };
}
const aRule = (condition: string, name = ""): string =>
  `---\n${name === "" ? "" : `name: ${name}\n`}condition: ${condition}\n---\nText\n`;

test("[P2, X5] the user's rules count, a project's only once it is trusted, as it was hashed", () => {
  const { stateDir, cwd } = places({
    "rules/b.md": aRule("b"),
    "rules/a.md": aRule("a"),
    "rules/notes.txt": "no rule",
    ".bough/rules/p.md": aRule("p"),
    ".bough/rules/deep/q.md": aRule("q"),
    ".bough/rules/readme.txt": "no rule",
  });
  const load = () => loadRules({ stateDir, project: projectTrust(cwd, { stateDir }) });
  const names = ({ rules }: ReturnType<typeof load>): string[] => rules.map(({ name }) => name);
  assert.deepEqual(names(load()), ["a", "b"]);
  trustProject(cwd, projectTrust(cwd, { stateDir }).digest!, stateDir);
  const trusted = projectTrust(cwd, { stateDir });
  assert.deepEqual(names(load()), ["a", "b", "p"]);
  writeFileSync(join(cwd, ".bough/rules/p.md"), aRule("changed"));
  assert.deepEqual(names(load()), ["a", "b"]);
  assert.deepEqual(loadRules({ stateDir, project: trusted }).rules[2]?.conditions, [/p/g]);
  assert.deepEqual(loadRules({ stateDir }).problems, []);
});

test("[P2] of two rules with one name the user's own stands; a broken file costs only itself", () => {
  const { stateDir, cwd } = places({
    "rules/bad.md": aRule("("),
    "rules/good.md": aRule("mine", "no-logs"),
    ".bough/rules/theirs.md": aRule("theirs", "no-logs"),
    ".bough/rules/last.md": aRule("last"),
  });
  const { rules, problems } = loadRules({ stateDir, project: projectTrust(cwd, { stateDir, trustThisRun: true }) });
  assert.deepEqual(
    rules.map(({ name, conditions }) => [name, conditions[0]!.source]),
    [
      ["no-logs", "mine"],
      ["last", "last"],
    ],
  );
  const own = join(stateDir, "rules");
  assert.equal(problems.length, 2);
  assert.match(problems[0]!, /bad\.md:2: the condition is no regular expression: .*; the rule is ignored\.$/);
  assert.ok(
    problems[1]!.endsWith(`theirs.md:3: the name "no-logs" is taken by ${own}/good.md:3; the rule is ignored.`),
  );
});

test("[P2] a folder or file that cannot be read is told, no folder at all is not", (t) => {
  const { stateDir } = places({ "rules/big.md": `${aRule("a")}${"x".repeat(70_000)}`, "rules/ok.md": aRule("a") });
  const loaded = loadRules({ stateDir });
  assert.deepEqual(
    loaded.rules.map(({ name }) => name),
    ["ok"],
  );
  assert.match(loaded.problems.join(), /big\.md cannot be read: it has 68.* more than 64.*; the rule is ignored\.$/);
  assert.deepEqual(loadRules({ stateDir: temporaryFolder() }), { rules: [], problems: [] });
  if (process.getuid?.() === 0) return;
  chmodSync(join(stateDir, "rules"), 0);
  t.after(() => chmodSync(join(stateDir, "rules"), 0o700));
  assert.match(loadRules({ stateDir }).problems.join(), /rules cannot be read: .*; it has no rules\.$/);
});
