/**
 * Settings on real files: the user's, a project's, broken ones.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_COMPACTION } from "../../src/agent/compaction-settings.ts";
import { readModelsFile } from "../../src/agent/models-file.ts";
import { DEFAULT_RETRY } from "../../src/agent/retry.ts";
import { DEFAULT_BRANCH_SUMMARY, Settings, type SettingValues } from "../../src/agent/settings.ts";
import { projectTrust } from "../../src/agent/trust.ts";
import { temporaryFolder } from "../support/session-files.ts";

/** A state folder with this settings file, and a project with that one. */
function setUp(own?: string, project?: string) {
  const stateDir = join(temporaryFolder(), "state");
  const cwd = fs.realpathSync(temporaryFolder());
  const path = join(stateDir, "settings.json");
  if (own !== undefined) {
    fs.mkdirSync(stateDir);
    fs.writeFileSync(path, own);
  }
  const projectPath = join(cwd, ".bough/settings.json");
  if (project !== undefined) {
    fs.mkdirSync(join(cwd, ".bough"));
    fs.writeFileSync(projectPath, project);
  }
  const load = (trustThisRun = false) =>
    new Settings({ stateDir, project: projectTrust(cwd, { stateDir, trustThisRun }) });
  return { stateDir, path, projectPath, load, content: () => fs.readFileSync(path, "utf8") };
}

const KEYS: readonly (keyof SettingValues)[] = [
  "defaultProvider",
  "defaultModel",
  "defaultThinkingLevel",
  "smallModel",
  "summaryModel",
  "branchSummary",
  "subagentModel",
  "mcpWaitMs",
  "doubleEscapeAction",
  "treeFilterMode",
  "steeringMode",
  "followUpMode",
  "compaction",
  "retry",
  "theme",
  "hideThinking",
  "externalEditor",
  "plansDirectory",
  "extensions",
  "packages",
];
const DEFAULTS: SettingValues = {
  defaultProvider: undefined,
  defaultModel: undefined,
  defaultThinkingLevel: "medium",
  smallModel: undefined,
  summaryModel: undefined,
  branchSummary: DEFAULT_BRANCH_SUMMARY,
  compaction: DEFAULT_COMPACTION,
  subagentModel: undefined,
  mcpWaitMs: 5000,
  doubleEscapeAction: undefined,
  treeFilterMode: "default",
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  retry: DEFAULT_RETRY,
  theme: "auto",
  hideThinking: false,
  externalEditor: undefined,
  plansDirectory: undefined,
  extensions: [],
  packages: [],
};
const all = (settings: Settings) => Object.fromEntries(KEYS.map((key) => [key, settings.get(key)]));

test("[A9] without files everything has its default, and nothing is made", () => {
  const { stateDir, load } = setUp();
  const settings = load();
  assert.deepEqual([all(settings), settings.notices, fs.existsSync(stateDir)], [DEFAULTS, [], false]);
  assert.deepEqual(all(new Settings()), DEFAULTS);
  for (const text of ["", " \n", "{}"]) assert.deepEqual(all(setUp(text).load()), DEFAULTS);
});

test("[A9] docs/settings.md names every setting, and its examples are read as they stand", () => {
  const text = fs.readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");
  const named = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)]);
  assert.deepEqual(new Set(named.map(([, key]) => key)), new Set(KEYS));
  const [settings = "", models = ""] = [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, block]) => block);
  assert.deepEqual(setUp(settings).load().notices, []);
  const path = join(temporaryFolder(), "models.json");
  fs.writeFileSync(path, models);
  const { listings, problems } = readModelsFile(path, { LAB_KEY: "k" });
  assert.deepEqual([listings.map(({ provider }) => provider.id), problems], [["lab"], []]);
});

test("[A9] every setting is read from the user's file", () => {
  const chosen: SettingValues = {
    defaultProvider: "lab",
    defaultModel: "big",
    defaultThinkingLevel: "xhigh",
    smallModel: "lab/small",
    summaryModel: "lab/writer",
    branchSummary: { skipPrompt: true, reserveTokens: 0 },
    compaction: { enabled: false, reserveTokens: 1, keepRecentTokens: 2 },
    subagentModel: "lab/middle",
    mcpWaitMs: 0,
    doubleEscapeAction: "fork",
    treeFilterMode: "labeled-only",
    steeringMode: "all",
    followUpMode: "all",
    retry: { enabled: false, maxRetries: 0, baseDelayMs: 1, maxDelayMs: 2 },
    theme: "light",
    hideThinking: true,
    externalEditor: "vim -n",
    plansDirectory: "docs/plans",
    extensions: ["one.ts", "~/two"],
    packages: ["npm:three"],
  };
  const settings = setUp(`\ufeff${JSON.stringify(chosen)}`).load();
  assert.deepEqual([all(settings), settings.notices], [chosen, []]);
  assert.deepEqual(setUp('{"retry": {"maxRetries": 9}}').load().get("retry"), { ...DEFAULT_RETRY, maxRetries: 9 });
  const packages = setUp('{"packages": ["a", {"source": "git:b", "skills": []}]}').load().get("packages");
  assert.deepEqual(packages, ["a", "git:b"]);
});

test("[A9] values that make no sense count as absent, with a sentence that names the line", () => {
  const { path, load } = setUp(
    '{\n  "theme": 5,\n  "treeFilterMode": "none",\n  "hideThinking": "yes",\n  "retry": {"maxRetries": -1}\n}',
  );
  const settings = load();
  assert.deepEqual(all(settings), DEFAULTS);
  assert.deepEqual(settings.notices, [
    `${path}:3: "treeFilterMode" must be one of default, no-tools, user-only, labeled-only, all; it is ignored.`,
    `${path}:5: "retry" must be an object such as ${JSON.stringify(DEFAULT_RETRY)}; it is ignored.`,
    `${path}:2: "theme" must be text; it is ignored.`,
    `${path}:4: "hideThinking" must be true or false; it is ignored.`,
  ]);
  settings.get("theme");
  assert.equal(settings.notices.length, 4);
});

test("[A9, K4] branchSummary: what is left out has its default, and one wrong member makes all of it absent", () => {
  const read = (value: unknown) =>
    setUp(JSON.stringify({ branchSummary: value }))
      .load()
      .get("branchSummary");
  assert.deepEqual(read({ skipPrompt: true }), { skipPrompt: true, reserveTokens: 16_384 });
  assert.deepEqual(read({ reserveTokens: 100 }), { skipPrompt: false, reserveTokens: 100 });
  for (const wrong of [true, [], { skipPrompt: "no" }, { reserveTokens: -1 }, { reserveTokens: 1.5 }])
    assert.deepEqual(read(wrong), DEFAULT_BRANCH_SUMMARY);
});

test("[A9, K1] compaction: what is left out has its default, and one wrong member makes all of it absent", () => {
  const read = (value: unknown) =>
    setUp(JSON.stringify({ compaction: value }))
      .load()
      .get("compaction");
  assert.deepEqual(read({}), { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 });
  assert.deepEqual(read({ enabled: false, keepRecentTokens: 5 }), {
    enabled: false,
    reserveTokens: 16_384,
    keepRecentTokens: 5,
  });
  for (const wrong of [true, [], { enabled: 1 }, { reserveTokens: -1 }, { keepRecentTokens: "many" }])
    assert.deepEqual(read(wrong), DEFAULT_COMPACTION);
});

test("[A9] a file that is not JSON is named with its line, ignored, and never overwritten", () => {
  const broken: [text: string, problem: (path: string) => string][] = [
    ['{\n  "theme": "dark",\n}', (path) => `${path}:3 is not valid JSON.`],
    ['{"theme": "dark"', (path) => `${path}:1 is not valid JSON.`],
    ["[1]", (path) => `${path} must hold a JSON object: {"name": value}.`],
    ["null", (path) => `${path} must hold a JSON object: {"name": value}.`],
  ];
  for (const [text, problem] of broken) {
    const { path, load, content } = setUp(text);
    const settings = load();
    assert.deepEqual([all(settings), settings.notices], [DEFAULTS, [`${problem(path)} It is ignored.`]]);
    assert.throws(() => settings.set("theme", "dark"), {
      message: `${problem(path)} The setting was not saved; correct the file first.`,
    });
    assert.equal(content(), text);
  }
});

test("[A9] a folder in the place of the file is reported", () => {
  const { stateDir, path } = setUp();
  fs.mkdirSync(path, { recursive: true });
  assert.deepEqual(new Settings({ stateDir }).notices, [
    `${path} cannot be read: it is not a regular file. It is ignored.`,
  ]);
});

test("[A9, W6] writing changes one key, keeps all others and is private", () => {
  const { stateDir, path, load, content } = setUp(
    '{"later": {"x": [1]}, "theme": "dark", "__proto__": {"polluted": 1}}',
  );
  fs.chmodSync(path, 0o644);
  const settings = load();
  // Another bough writes in between.
  fs.writeFileSync(path, content().replace("dark", "light"));
  settings.set("hideThinking", true);
  assert.equal(
    content(),
    '{\n  "later": {\n    "x": [\n      1\n    ]\n  },\n  "theme": "light",\n  "__proto__": {\n    "polluted": 1\n  },\n  "hideThinking": true\n}\n',
  );
  assert.deepEqual(
    [settings.get("theme"), settings.get("hideThinking"), Reflect.get({}, "polluted")],
    ["light", true, undefined],
  );
  settings.set("hideThinking", undefined);
  assert.equal(load().get("hideThinking"), false);
  assert.deepEqual([fs.statSync(path).mode & 0o777, fs.readdirSync(stateDir)], [0o600, ["settings.json"]]);
});

test("[A9, W6] the first setting makes a private folder; a link to the file stays a link", () => {
  const first = setUp();
  first.load().set("theme", "dark");
  assert.deepEqual([first.content(), fs.statSync(first.stateDir).mode & 0o777], ['{\n  "theme": "dark"\n}\n', 0o700]);
  const linked = setUp("{}");
  const target = join(temporaryFolder(), "dotfile.json");
  fs.renameSync(linked.path, target);
  fs.symlinkSync(target, linked.path);
  linked.load().set("theme", "dark");
  assert.deepEqual(
    [fs.readlinkSync(linked.path), fs.readFileSync(target, "utf8")],
    [target, '{\n  "theme": "dark"\n}\n'],
  );
});

test("[A9] without a state folder settings live in memory", () => {
  const settings = new Settings();
  settings.set("theme", "dark");
  assert.equal(settings.get("theme"), "dark");
  settings.set("theme", undefined);
  assert.equal(settings.get("theme"), "auto");
});

test("[A9] a file that cannot be written says so and changes nothing", () => {
  const { stateDir, path } = setUp();
  fs.writeFileSync(stateDir, "a file");
  const settings = new Settings({ stateDir });
  assert.throws(() => settings.set("theme", "dark"), {
    message: `The setting was not saved: ${path} cannot be written: a part of the path is not a folder (ENOTDIR).`,
  });
  assert.equal(settings.get("theme"), "auto");
});

test("[X5] a project's settings count only when it is trusted, and then over the user's", () => {
  const { load } = setUp('{"theme": "dark", "hideThinking": true}', '{"theme": "light", "defaultModel": "big"}');
  const untrusted = load();
  assert.deepEqual([untrusted.get("theme"), untrusted.get("defaultModel"), untrusted.notices], ["dark", undefined, []]);
  const trusted = load(true);
  assert.deepEqual(
    [trusted.get("theme"), trusted.get("defaultModel"), trusted.get("hideThinking")],
    ["light", "big", true],
  );
});

test("[X5] a broken file of an untrusted project is not even looked at", () => {
  const { projectPath, load } = setUp("{}", "{oops");
  assert.deepEqual(load().notices, []);
  assert.deepEqual(load(true).notices, [`${projectPath}:1 is not valid JSON. It is ignored.`]);
});

test("[X5] even a trusted project may not set where trust, keys, requests and state go", () => {
  const keys = ["trust", "baseUrl", "apiKey", "stateDir", "externalEditor", "plansDirectory", "extensions", "packages"];
  const text = `{\n${keys.map((key) => `"${key}": "x"`).join(",\n")}\n}`;
  const { projectPath, load } = setUp(undefined, text);
  const settings = load(true);
  assert.equal(settings.get("externalEditor"), undefined);
  assert.deepEqual(
    settings.notices,
    keys.map((key, index) => `${projectPath}:${index + 2}: "${key}" is ignored: a project may not set it.`),
  );
});

test("[A9] read anew: the values and what is wrong are those of the files now; a copy of them is nobody else's", () => {
  const stateDir = temporaryFolder();
  const path = join(stateDir, "settings.json");
  fs.writeFileSync(path, '{"theme": 5, "retry": {"maxRetries": 1}}');
  const settings = new Settings({ stateDir });
  assert.deepEqual([settings.get("retry").maxRetries, settings.notices.length], [1, 1]);
  fs.writeFileSync(path, '{"theme": "dark", "retry": {"maxRetries": 2}}');
  settings.reread();
  assert.deepEqual([settings.get("retry").maxRetries, settings.get("theme"), settings.notices], [2, "dark", []]);
  const values = settings.values();
  values.retry.maxRetries = 99;
  assert.deepEqual([settings.get("retry").maxRetries, values.theme], [2, "dark"]);
});
