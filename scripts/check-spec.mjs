// SPEC.md against the tests, both ways: every rule has a test whose title cites it, every citation names a rule.
// A rule is a line "- **T4** …" of SPEC.md; a citation is the bracket a test's title begins with: "[T4, F6] …".
import { readSource, sourceFiles } from "./source-files.mjs";

const rules = new Map([...readSource("SPEC.md").matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)].map(([, id]) => [id, 0]));
const faults = [];
let titles = 0;
for (const file of sourceFiles("test")) {
  if (!file.endsWith(".test.ts")) continue;
  const text = readSource(file);
  for (const [, title] of text.matchAll(/(?<![\w.])(?:test|it)\(\s*[`"'](.*)/g)) {
    titles++;
    const cited = /^\[([A-Z]+\d+(?:, [A-Z]+\d+)*)\] /.exec(title);
    if (!cited) faults.push(`${file}: a test's title must begin with the rules it proves, like "[T4] …": ${title}`);
    for (const id of cited?.[1].split(", ") ?? []) {
      if (!rules.has(id)) faults.push(`${file}: cites ${id}, which SPEC.md does not have`);
      else rules.set(id, rules.get(id) + 1);
    }
  }
}
for (const [id, count] of rules) if (count === 0) faults.push(`SPEC.md: ${id} has no test`);
for (const fault of faults) console.error(`spec: ${fault}`);
console.log(`spec: ${rules.size} rules, ${titles} test titles`);
process.exit(faults.length === 0 ? 0 : 1);
