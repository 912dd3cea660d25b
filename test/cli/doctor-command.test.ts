/** Tests of src/cli/doctor-command.ts: the whole report, its JSON, its exit codes, and that no byte changes. */
import { deepEqual, equal } from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DOCTOR_HELP, runDoctorCommand } from "../../src/cli/doctor-command.ts";
import { reportFailure } from "../../src/cli/report.ts";

const folder = mkdtempSync(join(tmpdir(), "bough-doctor-"));
after(() => rmSync(folder, { recursive: true }));

const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T10:00:00.000Z","cwd":"/x"}';
const prompt = (id: string, parentId: string | null): string =>
  JSON.stringify({
    type: "message",
    id,
    parentId,
    timestamp: "2026-11-30T10:00:00.000Z",
    message: { role: "user", content: id, timestamp: 0 },
  });

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function doctor(...args: string[]) {
  const output = { out: "", err: "" };
  const io = {
    out: (text: string) => void (output.out += text),
    err: (text: string) => void (output.err += text),
  };
  const code = await runDoctorCommand(args, io).catch((error: unknown) => reportFailure(io, error));
  return { code, ...output };
}

test("[D1] a sound file: one closing line, exit code 0", async () => {
  const path = file("sound.jsonl", [HEADER, prompt("a", null), prompt("b", "a"), prompt("c", "a"), ""].join("\n"));
  deepEqual(await doctor(path), {
    code: 0,
    out: `No problems in ${path} (4 lines, 3 entries, 2 branches, ${readFileSync(path).length} bytes).\n`,
    err: "",
  });
});

test("[D1, F6] every problem with its line, in their order, and a closing line; exit code 1; no byte changes", async () => {
  const lines = [HEADER, prompt("a", null), "{oops", prompt("b", "gone"), prompt("b", "a"), '{"type":"mess'];
  const path = file("broken.jsonl", lines.join("\n"));
  const before = readFileSync(path);
  const { code, out, err } = await doctor(path);
  const rows = out.trimEnd().split("\n");
  deepEqual([code, err], [1, ""]);
  deepEqual(
    rows.slice(0, -1).map((row) => row.slice(path.length)),
    [
      ":3: Line 3 is not valid JSON and is left out.",
      ":4: Entry b follows gone, which is not in the file, and starts a branch of its own.",
      ":5: The id b is used again in line 5 for something else, which is shown as b~5.",
      ":6: Line 6, the last one, was not written to its end and is left out.",
    ],
  );
  equal(rows.at(-1), `4 problems in ${path} (6 lines, 3 entries, 2 branches, ${before.length} bytes).`);
  deepEqual(readFileSync(path), before);
  deepEqual(readdirSync(folder).sort(), ["broken.jsonl", "sound.jsonl"]);
});

test("[D1] --json: the same report as one object", async () => {
  const path = file("json.jsonl", [HEADER, prompt("a", null), "{oops", ""].join("\n"));
  const { code, out, err } = await doctor("--json", path);
  deepEqual([code, err], [1, ""]);
  const report: unknown = JSON.parse(out);
  deepEqual(report, {
    path: (report as { path: string }).path,
    sessionId: "s",
    version: 3,
    problems: [{ code: "bad-line", line: 3, text: "Line 3 is not valid JSON and is left out." }],
    notes: [],
    bytes: readFileSync(path).length,
    lines: 3,
    entries: 1,
    branches: 1,
    leafId: "a",
  });
});

test("[D1, L2] a branch that was written beside the leaf's is a note, and nothing is wrong", async () => {
  const path = file(
    "branches.jsonl",
    [HEADER, prompt("a", null), prompt("b", "a"), prompt("c", "b"), prompt("d", "a"), ""].join("\n"),
  );
  deepEqual(await doctor(path), {
    code: 0,
    out:
      `${path}:4: note: Another branch, ending at c, was written in the same minutes and has more messages (2); /tree shows it.\n` +
      `No problems in ${path} (5 lines, 4 entries, 2 branches, ${readFileSync(path).length} bytes).\n`,
    err: "",
  });
  const json = JSON.parse((await doctor("--json", path)).out) as { problems: unknown[]; notes: { code: string }[] };
  deepEqual([json.problems, json.notes.map(({ code }) => code)], [[], ["other-tip"]]);
});

test("[D1, F7] no session, an empty file, a missing path, a folder: one sentence with the path, exit code 1", async () => {
  const cases = [file("other.jsonl", "hello\n"), file("empty.jsonl", ""), join(folder, "missing.jsonl"), folder];
  for (const path of cases) {
    const { code, out, err } = await doctor(path);
    deepEqual([code, out, err.split("\n").length], [1, "", 2]);
    equal(err.includes(path), true, err);
  }
  equal(readdirSync(folder).includes("missing.jsonl"), false);
});

test("[D1] wrong arguments are one sentence, --help tells how", async () => {
  deepEqual(await doctor(), { code: 2, out: "", err: "bough: Name one session file: bough doctor FILE.\n" });
  deepEqual(await doctor("a", "b"), { code: 2, out: "", err: "bough: Name one session file: bough doctor FILE.\n" });
  deepEqual(await doctor("--nope", "a"), {
    code: 2,
    out: "",
    err: "bough: Unknown option '--nope'. See bough doctor --help.\n",
  });
  deepEqual(await doctor("-h"), { code: 0, out: DOCTOR_HELP, err: "" });
});

test("[D1, U5] what a file holds cannot drive the terminal through the report", async () => {
  const evil = "\u001b]0;t\u0007\u009b2J\u202e";
  const path = file(
    "evil.jsonl",
    [HEADER, prompt(evil, null), prompt(evil, "x"), prompt("c", evil + evil), ""].join("\n"),
  );
  for (const args of [[path], ["--json", path]]) {
    const { code, out } = await doctor(...args);
    equal(code, 1);
    equal(/[\p{Cc}\p{Cf}]/u.test(out.replaceAll("\n", "")), false);
  }
});
