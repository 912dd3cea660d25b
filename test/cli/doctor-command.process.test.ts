/** Tests of src/cli/doctor-command.ts: whole reports, their JSON, exit codes, and what changes on disk. */
import { deepEqual, equal, match } from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DOCTOR_HELP, runDoctorCommand } from "../../src/cli/doctor-command.ts";
import { reportFailure } from "../../src/cli/report.ts";
import { diagnose } from "../../src/session/doctor.ts";

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

test("[D1, F7] no session, an empty file, a missing path: one sentence with the path, exit code 1", async () => {
  const cases = [file("other.jsonl", "hello\n"), file("empty.jsonl", ""), join(folder, "missing.jsonl")];
  for (const path of cases)
    for (const args of [[path], [path, "--repair"]]) {
      const { code, out, err } = await doctor(...args);
      deepEqual([code, out, err.split("\n").length], [1, "", 2]);
      equal(err.includes(path), true, err);
    }
  equal(readdirSync(folder).includes("missing.jsonl"), false);
});

test("[D1] wrong arguments are one sentence, --help tells how", async () => {
  const nameOne = "bough: Name one session file or folder: bough doctor FILE.\n";
  deepEqual(await doctor("a", "b"), { code: 2, out: "", err: nameOne });
  deepEqual(await doctor("--repair"), {
    code: 2,
    out: "",
    err: "bough: Name what to repair, a session file or a folder: bough doctor FILE --repair.\n",
  });
  deepEqual(await doctor("--nope", "a"), {
    code: 2,
    out: "",
    err: "bough: Unknown option '--nope'. See bough doctor --help.\n",
  });
  deepEqual(await doctor("-h"), { code: 0, out: DOCTOR_HELP, err: "" });
});

const sha256 = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

test("[D1, F6] --repair: what was done, with a proof that sha256sum confirms, and what is left and why", async () => {
  const lines = [HEADER, prompt("a", null), "{oops", prompt("b", "gone") + prompt("c", "a"), '{"type":"mess'];
  const path = file("repair.jsonl", lines.join("\n"));
  const { code, out, err } = await doctor(path, "--repair");
  const quarantine = readdirSync(folder).find((name) => name.startsWith("repair.jsonl.quarantine-"));
  const left = "Entry b follows gone, which is not in the file, and starts a branch of its own.";
  deepEqual(
    { code, out, err },
    {
      code: 1,
      out:
        `${path}: repaired; 4 good lines, sha256 ${sha256(path)}, unchanged; ` +
        `2 bad lines (18 bytes) kept in ${join(folder, quarantine ?? "")}; 1 line split; backup ${path}.bak.\n` +
        `${path}:3: ${left} Left: any other place in the tree would be a guess.\n`,
      err: "",
    },
  );
  deepEqual(await doctor("--repair", path), {
    code: 1,
    out:
      `${path}: nothing to repair; 4 good lines, sha256 ${sha256(path)}.\n` +
      `${path}:3: ${left} Left: any other place in the tree would be a guess.\n`,
    err: "",
  });
  const unsealed = file("unsealed.jsonl", [HEADER, prompt("a", null)].join("\n"));
  deepEqual(
    (await doctor(unsealed, "--repair")).out,
    `${unsealed}: repaired; 2 good lines, sha256 ${sha256(unsealed)}, unchanged; a newline added at the end; backup ${unsealed}.bak.\n`,
  );
});

test("[D1] --repair --json: the same as one object", async () => {
  const path = file("repair-json.jsonl", [HEADER, prompt("a", null), "{oops", ""].join("\n"));
  const { code, out } = await doctor("--json", "--repair", path);
  const report = JSON.parse(out) as { quarantine: string };
  equal(code, 0);
  deepEqual(report, {
    path,
    repaired: true,
    good: { count: 2, sha256: sha256(path) },
    bad: { lines: 1, bytes: 5 },
    split: 0,
    sealed: false,
    quarantine: report.quarantine,
    backup: `${path}.bak`,
    left: [],
  });
  match(report.quarantine, /repair-json\.jsonl\.quarantine-\d{4}-\d\d-\d\dT[-\d]+Z$/);
});

test("[D1, W6] a folder: a line for each session file in it and below, no link followed, and a summary", async () => {
  const root = join(folder, "many");
  mkdirSync(join(root, "deep/er"), { recursive: true });
  const at = (name: string, ...lines: string[]): string => file(join("many", name), `${lines.join("\n")}\n`);
  const sound = at("a.jsonl", HEADER, prompt("a", null));
  const broken = at("deep/b.jsonl", HEADER, "{oops", prompt("b", "gone"));
  const damaged = at("deep/er/c.jsonl", HEADER, "{oops");
  const other = at("z.jsonl", "hello");
  at("notes.txt", "hello");
  symlinkSync(file("outside.jsonl", "hello\n"), join(root, "link.jsonl"));
  symlinkSync(folder, join(root, "deep/loop"));
  const refused = `${other} cannot be opened (line 1: it is not a session file: its first line is not JSON); nothing was changed.`;
  deepEqual(await doctor(root), {
    code: 1,
    out:
      `${sound}: no problems\n` +
      `${broken}: 2 problems, first: Line 2 is not valid JSON and is left out.\n` +
      `${damaged}: 1 problem, first: Line 2 is not valid JSON and is left out.\n` +
      `${refused}\n` +
      `4 session files in ${root}: 1 sound, 2 with problems (3 in all), 1 that cannot be examined.\n`,
    err: "",
  });
  const json = JSON.parse((await doctor(root, "--json")).out) as { files: object[] };
  deepEqual(json, {
    folder: root,
    files: [
      ...[sound, broken, damaged].map((path) => JSON.parse(JSON.stringify(diagnose(path))) as object),
      { path: other, error: { code: "not-a-session", text: refused } },
    ],
    totals: { files: 4, sound: 1, withProblems: 2, problems: 3, failed: 1, repaired: 0 },
  });
  const repaired = await doctor(root, "--repair");
  const ends = repaired.out.split("\n").map((row) => row.slice(row.lastIndexOf("; ") + 2));
  deepEqual(
    [repaired.code, ends],
    [
      1,
      [
        "no problems left",
        "1 problem left, first: Entry b follows gone, which is not in the file, and starts a branch of its own.",
        "no problems left",
        "nothing was changed.",
        `4 session files in ${root}: 2 repaired, 2 sound, 1 with problems (1 in all), 1 that cannot be examined.`.slice(
          1,
        ),
        "",
      ],
    ],
  );
  rmSync(other);
  rmSync(broken);
  equal((await doctor(root)).code, 0);
});

test("[D1] without a file: all sessions of the state folder; none are no fault", async (t) => {
  const before = process.env["BOUGH_DIR"];
  t.after(() => (before === undefined ? delete process.env["BOUGH_DIR"] : (process.env["BOUGH_DIR"] = before)));
  process.env["BOUGH_DIR"] = join(folder, "state");
  const sessions = join(folder, "state/sessions");
  deepEqual(await doctor(), { code: 0, out: `There are no session files in ${sessions}.\n`, err: "" });
  mkdirSync(join(sessions, "work-0"), { recursive: true });
  const path = file("state/sessions/work-0/s.jsonl", `${HEADER}\n`);
  deepEqual(await doctor(), {
    code: 0,
    out: `${path}: no problems\n1 session file in ${sessions}: 1 sound, 0 with problems (0 in all), 0 that cannot be examined.\n`,
    err: "",
  });
});

test("[D1, U5] what a file holds cannot drive the terminal through the report", async () => {
  const evil = "\u001b]0;t\u0007\u009b2J\u202e";
  const path = file(
    "evil.jsonl",
    [HEADER, prompt(evil, null), prompt(evil, "x"), prompt("c", evil + evil), ""].join("\n"),
  );
  for (const args of [[path], ["--json", path], ["--repair", path], ["--repair", "--json", path]]) {
    const { code, out } = await doctor(...args);
    equal(code, 1);
    equal(/[\p{Cc}\p{Cf}]/u.test(out.replaceAll("\n", "")), false);
  }
});
