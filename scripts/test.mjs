// `npm test`: the build, every check and every test; the last line is "N passed, N failed".
// Tests share one process, but for *.process.test.ts, which change process state or start programs. Names given as
// arguments narrow the run: `npm test -- outline` runs the files whose path contains "outline", without the checks.
// With LAWS=reopen every session's file is closed and opened anew after each append.
import { run as runTests } from "node:test";
import { spec } from "node:test/reporters";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { env, run } from "./run.mjs";
import { root, sourceFiles } from "./source-files.mjs";

Object.assign(process.env, env);
// The same cases at every run; SEED=random (or a number) looks at others.
const { SEED = "1" } = process.env;
if (SEED !== "random") fc.configureGlobal({ seed: Number(SEED) });
// Every program of the tests loads it, this one too.
if (process.env.LAWS === "reopen") {
  const preload = pathToFileURL(join(root, "test/support/reopening-store.ts")).href;
  await import(preload);
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --import=${preload}`.trim();
}
const names = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };

function count(ok) {
  counts[ok ? "passed" : "failed"]++;
}

/** Runs test files and counts each test, a failing hook or file included. */
async function runFiles(files, isolation) {
  if (files.length === 0) return;
  // Each test process makes a state folder of its own: locks are in it, and sessions of tests share their ids.
  delete process.env["BOUGH_DIR"];
  // Tests in one process go one after another: some watch what the process does to the disk.
  const concurrency = isolation === "process" ? 2 : 1;
  const stream = runTests({ files: files.map((file) => join(root, file)), isolation, concurrency, cwd: root });
  const settled = new Promise((resolve) => stream.once("end", resolve));
  stream.on("test:pass", (test) => test.details.type !== "suite" && !test.skip && count(true));
  stream.on("test:fail", (test) => test.details.type !== "suite" && count(false));
  stream.compose(spec).pipe(process.stdout, { end: false });
  await settled;
}

if (names.length === 0) {
  count(run("node", ["scripts/build.mjs"]));
  count(run("node", ["scripts/check.mjs"]));
}
const files = sourceFiles("test").filter(
  (file) => file.endsWith(".test.ts") && (names.length === 0 || names.some((name) => file.includes(name))),
);
await runFiles(
  files.filter((file) => !file.endsWith(".process.test.ts")),
  "none",
);
await runFiles(
  files.filter((file) => file.endsWith(".process.test.ts")),
  "process",
);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
