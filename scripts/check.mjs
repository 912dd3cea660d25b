// Every check that reads only: compiler, linter, formatter, rooms, spec, public API. Changes no tracked file.
import { run } from "./run.mjs";

const checks = [
  ["tsc", ["-b"]],
  ["oxlint", ["--type-aware", "src", "test", "bench"]],
  ["oxlint", ["scripts", "examples"]],
  ["oxfmt", ["--check", "src", "test", "bench", "scripts", "examples"]],
  ["node", ["scripts/check-rooms.mjs"]],
  ["node", ["scripts/check-spec.mjs"]],
  ["node", ["scripts/check-api.mjs"]],
  ["node", ["scripts/rpc-docs.mjs"]],
];
const failed = checks.filter(([command, args]) => !run(command, args));
for (const [command, args] of failed) console.error(`check failed: ${command} ${args.join(" ")}`);
process.exit(failed.length === 0 ? 0 : 1);
