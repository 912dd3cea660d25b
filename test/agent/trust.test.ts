/**
 * Trust in a project: bound to every byte of its `.bough/`.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { projectTrust, trustProject } from "../../src/agent/trust.ts";
import { temporaryFolder } from "../support/session-files.ts";

/** A project with these files, and a state folder that does not exist yet. */
function setUp(files: Record<string, string> = {}) {
  const cwd = fs.realpathSync(temporaryFolder());
  const stateDir = join(temporaryFolder(), "state");
  const write = (name: string, content: string): void => {
    fs.mkdirSync(dirname(join(cwd, name)), { recursive: true });
    fs.writeFileSync(join(cwd, name), content);
  };
  for (const [name, content] of Object.entries(files)) write(name, content);
  const look = (trustThisRun = false) => projectTrust(cwd, { stateDir, trustThisRun });
  const trust = () => trustProject(cwd, look().digest!, stateDir);
  return { cwd, stateDir, write, look, trust, folder: join(cwd, ".bough") };
}

const SETTINGS = { ".bough/settings.json": '{"theme": "dark"}', ".bough/extensions/a.ts": "export default 1;" };

test("[X5] a project without files that act needs no trust", () => {
  const { cwd, look, stateDir } = setUp({ "AGENTS.md": "text", ".env": "KEY=1" });
  fs.mkdirSync(join(cwd, ".bough"));
  const { needed, trusted, digest, files, problem, file } = look();
  assert.deepEqual(
    { needed, trusted, digest, files, problem, file: file("settings.json") },
    { needed: false, trusted: true, digest: undefined, files: [], problem: undefined, file: undefined },
  );
  assert.equal(fs.existsSync(stateDir), false);
});

test("[X5] a project with such files is not trusted until the user says so, and then for good", () => {
  const { look, trust, folder, stateDir } = setUp(SETTINGS);
  const before = look();
  assert.deepEqual(
    [before.needed, before.trusted, before.problem, before.file("settings.json")],
    [true, false, undefined, undefined],
  );
  assert.deepEqual(before.files, [join(folder, "extensions/a.ts"), join(folder, "settings.json")]);
  assert.match(before.digest ?? "", /^[0-9a-f]{64}$/);
  trust();
  const after = look();
  assert.deepEqual([after.trusted, after.digest], [true, before.digest]);
  assert.deepEqual(after.file("settings.json"), { path: join(folder, "settings.json"), text: '{"theme": "dark"}' });
  assert.deepEqual([after.file("extensions/a.ts"), after.file("__proto__")], [undefined, undefined]);
  assert.equal(fs.statSync(join(stateDir, "trust.json")).mode & 0o777, 0o600);
});

test("[X5] any change of a name or a byte ends the trust; undoing it restores it", () => {
  const changes: ((project: ReturnType<typeof setUp>) => void)[] = [
    ({ write }) => write(".bough/settings.json", '{"theme": "darK"}'),
    ({ write }) => write(".bough/new", ""),
    ({ write }) => write(".bough/extensions/deep/er/b.ts", "x"),
    ({ folder }) => fs.renameSync(join(folder, "extensions/a.ts"), join(folder, "extensions/b.ts")),
    ({ folder }) => fs.renameSync(join(folder, "extensions/a.ts"), join(folder, "a.ts")),
    ({ folder }) => fs.rmSync(join(folder, "extensions"), { recursive: true }),
    ({ folder }) => fs.symlinkSync("settings.json", join(folder, "link")),
  ];
  for (const change of changes) {
    const project = setUp(SETTINGS);
    project.trust();
    change(project);
    const changed = project.look();
    assert.deepEqual([changed.needed, changed.trusted, changed.problem], [true, false, undefined], String(change));
  }
  const project = setUp(SETTINGS);
  project.trust();
  project.write(".bough/settings.json", "{}");
  project.write(".bough/settings.json", SETTINGS[".bough/settings.json"]);
  assert.equal(project.look().trusted, true);
});

test("[X5] two projects with the same files are trusted each for itself, under their real path", () => {
  const first = setUp(SETTINGS);
  const second = setUp(SETTINGS);
  first.trust();
  assert.equal(projectTrust(second.cwd, { stateDir: first.stateDir }).trusted, false);
  const link = join(temporaryFolder(), "link");
  fs.symlinkSync(first.cwd, link);
  assert.equal(projectTrust(link, { stateDir: first.stateDir }).trusted, true);
});

test("[X5] a flag trusts for one run and remembers nothing", () => {
  const { look, stateDir } = setUp(SETTINGS);
  assert.deepEqual([look(true).trusted, fs.existsSync(stateDir), look().trusted], [true, false, false]);
});

test("[X5] what leads out of the folder, is no file or cannot be hashed is never trusted", () => {
  const cases: [make: (project: ReturnType<typeof setUp>) => void, problem: (folder: string) => string][] = [
    [
      ({ folder }) => fs.symlinkSync("/etc/passwd", join(folder, "out")),
      (folder) => `${join(folder, "out")} is a link that leads out of the folder`,
    ],
    [
      ({ cwd, folder }) => {
        fs.mkdirSync(join(cwd, "elsewhere"));
        fs.symlinkSync("../elsewhere", join(folder, "sub"));
      },
      (folder) => `${join(folder, "sub")} is a link that leads out of the folder`,
    ],
    [
      ({ folder }) => {
        fs.renameSync(folder, `${folder}-real`);
        fs.symlinkSync(".bough-real", folder);
      },
      (folder) => `${folder} is not a folder; links to one are not followed`,
    ],
    [
      ({ folder }) => {
        fs.rmSync(folder, { recursive: true });
        fs.writeFileSync(folder, "x");
      },
      (folder) => `${folder} is not a folder; links to one are not followed`,
    ],
    [
      ({ folder }) => fs.truncateSync(join(folder, "settings.json"), 65 * 1024 * 1024),
      (folder) => `${folder} holds more than 64.0 MB`,
    ],
    [
      ({ folder }) => {
        for (let n = 0; n < 2000; n++) fs.writeFileSync(join(folder, `f${n}`), "");
      },
      (folder) => `${folder} holds more than 2,000 files`,
    ],
  ];
  for (const [make, problem] of cases) {
    const project = setUp(SETTINGS);
    make(project);
    for (const found of [project.look(), project.look(true)]) {
      assert.deepEqual(
        [found.needed, found.trusted, found.digest, found.problem, found.file("settings.json")],
        [true, false, undefined, `${problem(project.folder)}, so nothing in ${project.folder} is used.`, undefined],
      );
    }
  }
});

test("[X5] links within the folder count by where they lead", () => {
  const project = setUp(SETTINGS);
  fs.symlinkSync("a.ts", join(project.folder, "extensions/b.ts"));
  project.trust();
  assert.equal(project.look().trusted, true);
  fs.rmSync(join(project.folder, "extensions/b.ts"));
  fs.symlinkSync("../settings.json", join(project.folder, "extensions/b.ts"));
  assert.equal(project.look().trusted, false);
});

test("[X5] in the home folder the state folder is no project", () => {
  const { cwd } = setUp({ ".bough/settings.json": "{}" });
  const { needed, trusted, files } = projectTrust(cwd, { stateDir: join(cwd, ".bough") });
  assert.deepEqual([needed, trusted, files], [false, true, []]);
});

test("[X5] what is used are the bytes that were hashed", () => {
  const { look, trust, write } = setUp(SETTINGS);
  trust();
  const found = look();
  write(".bough/settings.json", '{"theme": "swapped"}');
  assert.equal(found.file("settings.json")?.text, '{"theme": "dark"}');
});

test("[X5] a broken trust file trusts nobody and is not overwritten", () => {
  const { look, trust, stateDir } = setUp(SETTINGS);
  fs.mkdirSync(stateDir);
  const path = join(stateDir, "trust.json");
  for (const text of ["{oops", "[]", '{"__proto__": {"digest": "x"}}']) {
    fs.writeFileSync(path, text);
    assert.equal(look().trusted, false);
  }
  fs.writeFileSync(path, "{oops");
  assert.throws(trust, { message: `${path}:1 is not valid JSON. Trust was not saved; correct or delete the file.` });
  assert.equal(fs.readFileSync(path, "utf8"), "{oops");
});

test("[X5] trusting a second project keeps the first", () => {
  const first = setUp(SETTINGS);
  const second = setUp(SETTINGS);
  first.trust();
  trustProject(second.cwd, second.look().digest!, first.stateDir);
  assert.equal(first.look().trusted, true);
  assert.equal(projectTrust(second.cwd, { stateDir: first.stateDir }).trusted, true);
});
