/**
 * What file patterns mean.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { globMatcher } from "../../src/agent/tools/glob.ts";

const PATHS = [
  "a.ts",
  "a.tsx",
  "b.js",
  ".hidden/c.ts",
  "src/a.ts",
  "src/deep/a.test.ts",
  "src/deep/er/x[1].ts",
  "docs/ä.md",
  "docs",
  "tests/src/a.ts",
];

test("[A6] patterns without a slash are compared with names, others with the whole path", () => {
  const cases: [glob: string, matching: string[]][] = [
    ["*.ts", ["a.ts", ".hidden/c.ts", "src/a.ts", "src/deep/a.test.ts", "src/deep/er/x[1].ts", "tests/src/a.ts"]],
    [
      "*.{ts,tsx}",
      ["a.ts", "a.tsx", ".hidden/c.ts", "src/a.ts", "src/deep/a.test.ts", "src/deep/er/x[1].ts", "tests/src/a.ts"],
    ],
    ["a.*", ["a.ts", "a.tsx", "src/a.ts", "src/deep/a.test.ts", "tests/src/a.ts"]],
    ["?.js", ["b.js"]],
    ["[!a].??", ["b.js", ".hidden/c.ts", "docs/ä.md"]],
    ["[a-b].{ts,js}", ["a.ts", "b.js", "src/a.ts", "tests/src/a.ts"]],
    ["docs", ["docs"]],
    ["src/*.ts", ["src/a.ts"]],
    ["/src/*.ts", ["src/a.ts"]],
    ["./src/*.ts", ["src/a.ts"]],
    ["src/**", ["src/a.ts", "src/deep/a.test.ts", "src/deep/er/x[1].ts"]],
    ["src/", ["src/a.ts", "src/deep/a.test.ts", "src/deep/er/x[1].ts"]],
    ["**/*.test.ts", ["src/deep/a.test.ts"]],
    ["**/a.ts", ["a.ts", "src/a.ts", "tests/src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/deep/a.test.ts", "src/deep/er/x[1].ts"]],
    ["{docs,src}/**/*.{md,test.ts}", ["src/deep/a.test.ts", "docs/ä.md"]],
    ["src/deep**", []],
    ["x\\[1\\].ts", ["src/deep/er/x[1].ts"]],
    ["*[[]*", ["src/deep/er/x[1].ts"]],
    ["docs/?.md", ["docs/ä.md"]],
    ["**", PATHS],
    ["A.TS", []],
    ["a.ts|b.js", []],
    ["(a).ts", []],
    [".*", []],
  ];
  for (const [glob, matching] of cases) {
    const matches = globMatcher(glob);
    assert.ok(matches !== undefined, glob);
    assert.deepEqual([glob, PATHS.filter(matches)], [glob, matching]);
  }
});

test("[A6] broken and absurd patterns are none", () => {
  const broken = ["", "/", "[a", "{a,b", "x".repeat(1001), "{a,b}".repeat(20)];
  assert.deepEqual(
    broken.filter((glob) => globMatcher(glob) !== undefined),
    [],
  );
});

test("[A6] a pattern of many stars is answered at once", () => {
  // Each star may match anything: a matcher that tries all ways would not come back.
  assert.equal(globMatcher(`${"*a".repeat(100)}b`)!("a".repeat(250)), false);
  assert.equal(globMatcher(`${"**/a/".repeat(100)}b`)!("a/".repeat(250)), false);
});
