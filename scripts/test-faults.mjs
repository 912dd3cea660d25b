// `npm run test:faults`: everything that can go wrong with a disk or a process, and what is left of the session.
// A table, one row per test; the last line is "N passed, N failed". Arguments: --short runs the forms that `npm test`
// runs, names (FT7) narrow the run. What each test does and must show: test/faults/README.md.
import { spawnSync } from "node:child_process";
import { env, run } from "./run.mjs";

Object.assign(process.env, env);
const args = process.argv.slice(2);
const form = args.includes("--short") ? "short" : "long";
const names = args.filter((arg) => !arg.startsWith("--")).map((name) => name.toUpperCase());

/** Programs of the long forms, by the Debian package that has them. */
const PACKAGES = { strace: "strace", xfsprogs: "mkfs.xfs", e2fsprogs: "mkfs.ext4" };

function installWhatIsMissing() {
  const has = (command) => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
  const missing = Object.entries(PACKAGES).flatMap(([name, command]) => (has(command) ? [] : [name]));
  if (missing.length === 0 || process.getuid?.() !== 0 || !has("apt-get")) return;
  const wait = ["-qq", "-o", "DPkg::Lock::Timeout=120"];
  run("apt-get", ["update", ...wait]);
  run("apt-get", ["install", "-y", "--no-install-recommends", ...wait, ...missing]);
}

if (form === "long") installWhatIsMissing();
const { faultTests } = await import("../test/faults/all.ts");
const { Tally } = await import("../test/faults/fault-test.ts");
const { missing } = await import("../test/faults/means.ts");

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const row = (...cells) => console.log(cells.map((cell, n) => String(cell).padEnd([6, 52, 9, 7, 9][n] ?? 0)).join(" "));
const counts = { passed: 0, failed: 0 };

row("test", "what", "cases", "losses", "time", "result");
for (const test of faultTests) {
  if (names.length > 0 && !names.includes(test.id)) continue;
  const { needs, run: runForm } = test[form];
  const reason = missing(needs);
  if (reason !== undefined) {
    row(test.id, test.title, "-", "-", "-", `skipped: ${reason}`);
    continue;
  }
  const tally = new Tally();
  const start = performance.now();
  try {
    await runForm(tally);
    tally.check(tally.cases > 0, "it tried nothing");
  } catch (error) {
    tally.check(false, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const failed = tally.violations.length > 0;
  counts[failed ? "failed" : "passed"]++;
  row(test.id, test.title, tally.cases, tally.losses, seconds(start), failed ? "FAILED" : "ok");
  for (const note of tally.notes) console.log(`       ${note}`);
  for (const violation of tally.violations.slice(0, 10))
    console.log(`       ! ${violation.split("\n").join("\n         ")}`);
  if (tally.violations.length > 10) console.log(`       ! and ${tally.violations.length - 10} more`);
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
