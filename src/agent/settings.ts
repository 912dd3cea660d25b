/**
 * `Settings`: what the user has chosen, from `<state>/settings.json`, and what a trusted project says, from
 * `.bough/settings.json`. Part of `agent/`; used by AgentSession, tui/ and cli/.
 *
 * Nothing in these files stops bough: a value that makes no sense counts as absent, and `notices` says so.
 */
import { join } from "node:path";
import { reasonOf } from "../session/session-errors.ts";
import { entriesOf, type JsonEntries, type JsonFile, parseJsonFile, readJsonFile, writeJsonFile } from "./json-file.ts";
import { FILTER_MODES, type FilterMode } from "../tree/outline-filter.ts";
import { DEFAULT_COMPACTION, type CompactionSettings } from "./compaction-settings.ts";
import { THINKING_LEVELS, type ThinkingLevel } from "./providers.ts";
import { DEFAULT_RETRY, type RetrySettings } from "./retry.ts";
import type { ProjectFile, ProjectTrust } from "./trust.ts";

export interface BranchSummarySettings {
  /** Jump without asking whether to summarise what is left behind. */
  skipPrompt: boolean;
  /** Tokens of the model's window that are kept for instructions and summary. */
  reserveTokens: number;
}
export const DEFAULT_BRANCH_SUMMARY: BranchSummarySettings = { skipPrompt: false, reserveTokens: 16_384 };

export interface SettingValues {
  defaultProvider: string | undefined;
  /** An id of that provider's. */
  defaultModel: string | undefined;
  defaultThinkingLevel: ThinkingLevel;
  /** "provider/modelId" for small tasks such as names; none by default. */
  smallModel: string | undefined;
  /** "provider/modelId" that writes summaries of branches and compactions; by default the session's own model. */
  summaryModel: string | undefined;
  branchSummary: BranchSummarySettings;
  compaction: CompactionSettings;
  /** "provider/modelId" for the task tool's agents; by default the model of the session that starts them. */
  subagentModel: string | undefined;
  /** How long a prompt waits for MCP servers that are being started, in milliseconds. */
  mcpWaitMs: number;
  /** What two presses of Escape open; `fork` means `branch`. Unset: the tree, with /branch left as it is. */
  doubleEscapeAction: "tree" | "branch" | "fork" | "none" | undefined;
  treeFilterMode: FilterMode;
  steeringMode: "one-at-a-time" | "all";
  followUpMode: "one-at-a-time" | "all";
  retry: RetrySettings;
  /** "auto" follows the terminal's background; "dark", "light", or the name of a file in `<state>/themes`. */
  theme: string;
  hideThinking: boolean;
  /** Command line for editing a prompt outside; by default $VISUAL or $EDITOR. */
  externalEditor: string | undefined;
  /** Folder for the files of plan mode, relative to the working directory; by default `plans` in the state folder. */
  plansDirectory: string | undefined;
  /** Files and folders of extensions; relative ones lie in the state folder. */
  extensions: readonly string[];
  /** Folders of packages with extensions, or names of npm packages that are installed in `<state>/packages`. */
  packages: readonly string[];
}

/** Turns a value from a file into a setting; undefined when it is none. */
type Reading<T> = (value: unknown) => T | undefined;

interface Setting<T> {
  read: Reading<T>;
  fallback: T;
  /** Completes the sentence "… must be ". */
  expected: string;
}

const text = {
  read: (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined),
  expected: "text",
};
const optionalText: Setting<string | undefined> = { ...text, fallback: undefined };

function choice<const T extends string, F extends T | undefined>(values: readonly T[], fallback: F): Setting<T | F> {
  return {
    read: (value) => values.find((candidate) => candidate === value),
    fallback,
    expected: `one of ${values.join(", ")}`,
  };
}

/** Every setting bough knows; keys in the files that are not here are left alone. */
const SETTINGS: { readonly [K in keyof SettingValues]: Setting<SettingValues[K]> } = {
  defaultProvider: optionalText,
  defaultModel: optionalText,
  defaultThinkingLevel: choice(THINKING_LEVELS, "medium"),
  smallModel: optionalText,
  summaryModel: optionalText,
  branchSummary: {
    read: readBranchSummary,
    fallback: DEFAULT_BRANCH_SUMMARY,
    expected: `an object such as ${JSON.stringify(DEFAULT_BRANCH_SUMMARY)}`,
  },
  compaction: {
    read: readCompaction,
    fallback: DEFAULT_COMPACTION,
    expected: `an object such as ${JSON.stringify(DEFAULT_COMPACTION)}`,
  },
  subagentModel: optionalText,
  mcpWaitMs: {
    read: (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined),
    fallback: 5000,
    expected: "a number of milliseconds",
  },
  doubleEscapeAction: choice(["tree", "branch", "fork", "none"], undefined),
  treeFilterMode: choice(FILTER_MODES, "default"),
  steeringMode: choice(["one-at-a-time", "all"], "one-at-a-time"),
  followUpMode: choice(["one-at-a-time", "all"], "one-at-a-time"),
  retry: {
    read: readRetry,
    fallback: DEFAULT_RETRY,
    expected: `an object such as ${JSON.stringify(DEFAULT_RETRY)}`,
  },
  theme: { ...text, fallback: "auto" },
  hideThinking: {
    read: (value) => (typeof value === "boolean" ? value : undefined),
    fallback: false,
    expected: "true or false",
  },
  externalEditor: optionalText,
  plansDirectory: optionalText,
  extensions: { read: readPaths, fallback: [], expected: "a list of paths" },
  packages: { read: readPaths, fallback: [], expected: "a list of paths and package names" },
};

/** pi writes some packages as an object, with the name in `source`. */
function readPaths(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const paths = value.map((item: unknown) => (typeof item === "string" ? item : entriesOf(item)?.get("source")));
  return paths.every((path) => typeof path === "string" && path !== "") ? (paths as string[]) : undefined;
}

/** Members that are left out keep their default. */
function readRetry(value: unknown): RetrySettings | undefined {
  const given = entriesOf(value);
  if (given === undefined) return undefined;
  const retry = { ...DEFAULT_RETRY };
  if (given.has("enabled")) {
    const enabled = given.get("enabled");
    if (typeof enabled !== "boolean") return undefined;
    retry.enabled = enabled;
  }
  for (const key of ["maxRetries", "baseDelayMs", "maxDelayMs"] as const) {
    const count = given.get(key) ?? retry[key];
    if (!Number.isSafeInteger(count) || Number(count) < 0) return undefined;
    retry[key] = Number(count);
  }
  return retry;
}

/** Members that are left out keep their default. */
function readCompaction(value: unknown): CompactionSettings | undefined {
  const given = entriesOf(value);
  if (given === undefined) return undefined;
  const enabled = given.get("enabled") ?? DEFAULT_COMPACTION.enabled;
  if (typeof enabled !== "boolean") return undefined;
  const settings = { ...DEFAULT_COMPACTION, enabled };
  for (const key of ["reserveTokens", "keepRecentTokens"] as const) {
    const tokens = given.get(key) ?? settings[key];
    if (!Number.isSafeInteger(tokens) || Number(tokens) < 0) return undefined;
    settings[key] = Number(tokens);
  }
  return settings;
}

/** Members that are left out keep their default. */
function readBranchSummary(value: unknown): BranchSummarySettings | undefined {
  const given = entriesOf(value);
  if (given === undefined) return undefined;
  const { skipPrompt, reserveTokens } = DEFAULT_BRANCH_SUMMARY;
  const [skips, reserve] = [given.get("skipPrompt") ?? skipPrompt, given.get("reserveTokens") ?? reserveTokens];
  if (typeof skips !== "boolean" || !Number.isSafeInteger(reserve) || Number(reserve) < 0) return undefined;
  return { skipPrompt: skips, reserveTokens: Number(reserve) };
}

/**
 * Keys that count only in the user's own file, also when the project is trusted: they decide whom bough trusts, where
 * keys and conversations go, and which program runs outside of a tool call.
 */
const NOT_FROM_PROJECTS: ReadonlySet<string> = new Set([
  "trust",
  "trustedProjects",
  "baseUrl",
  "apiKey",
  "apiKeys",
  "headers",
  "proxy",
  "stateDir",
  "sessionDir",
  "env",
  "externalEditor",
  "plansDirectory",
  "extensions",
  "packages",
]);

export interface SettingsOptions {
  /** The state folder; without one nothing is read and nothing written. */
  stateDir?: string;
  /** What `projectTrust` found; the project's settings count only when it is trusted. */
  project?: ProjectTrust;
}

/** One file's part of the settings. */
interface Source {
  path: string;
  entries: JsonEntries;
  lineOf: (key: string) => number;
}

const MISSING: JsonFile = { kind: "missing" };
const NOTHING: Source = { path: "", entries: new Map(), lineOf: () => 1 };

export class Settings {
  readonly #path: string | undefined;
  readonly #projectFile: ProjectFile | undefined;
  #own: Source = NOTHING;
  #project: Source = NOTHING;
  readonly #notices = new Set<string>();

  constructor({ stateDir, project }: SettingsOptions = {}) {
    this.#path = stateDir === undefined ? undefined : join(stateDir, "settings.json");
    this.#projectFile = project?.trusted ? project.file("settings.json") : undefined;
    this.reread();
  }

  /** Reads the user's file anew; of the project's it has what was trusted. */
  reread(): void {
    const file = this.#projectFile;
    this.#notices.clear();
    this.#own = this.#source(this.#path ?? "", this.#path === undefined ? MISSING : readJsonFile(this.#path));
    this.#project = this.#source(file?.path ?? "", file === undefined ? MISSING : parseJsonFile(file.path, file.text));
    this.#dropForbidden();
    // Reading a value notices what is wrong with it: so the user is told of everything at once.
    for (const key of Object.keys(SETTINGS) as (keyof SettingValues)[]) this.get(key);
  }

  /** What is wrong in the files, one sentence each. */
  get notices(): readonly string[] {
    return [...this.#notices];
  }

  /** The project's value, else the user's, else the default. */
  get<K extends keyof SettingValues>(key: K): SettingValues[K] {
    const setting = SETTINGS[key];
    for (const { path, entries, lineOf } of [this.#project, this.#own]) {
      if (!entries.has(key)) continue;
      const value = setting.read(entries.get(key));
      if (value !== undefined) return value;
      this.#notices.add(`${path}:${lineOf(key)}: "${key}" must be ${setting.expected}; it is ignored.`);
    }
    return setting.fallback;
  }

  /** A copy of all that holds now. */
  values(): SettingValues {
    const keys = Object.keys(SETTINGS) as (keyof SettingValues)[];
    return structuredClone(Object.fromEntries(keys.map((key) => [key, this.get(key)]))) as unknown as SettingValues;
  }

  /**
   * Sets a value in the user's file, undefined removes it; every other key of the file stays. The value counts at once.
   * Throws one plain sentence when the file cannot be written or is not valid JSON: then it is left as it is.
   */
  set<K extends keyof SettingValues>(key: K, value: SettingValues[K] | undefined): void {
    // The file is read again: another bough may have changed it.
    const file = this.#path === undefined ? MISSING : readJsonFile(this.#path);
    if (file.kind === "broken") throw new Error(`${file.problem} The setting was not saved; correct the file first.`);
    const entries = this.#path === undefined ? new Map(this.#own.entries) : entriesIn(file);
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
    if (this.#path !== undefined) save(this.#path, entries);
    this.#own = { ...this.#own, entries };
  }

  #source(path: string, file: JsonFile): Source {
    if (file.kind === "broken") this.#notices.add(`${file.problem} It is ignored.`);
    return { path, entries: entriesIn(file), lineOf: file.kind === "object" ? file.lineOf : () => 1 };
  }

  #dropForbidden(): void {
    const { path, entries, lineOf } = this.#project;
    for (const key of entries.keys()) {
      if (!NOT_FROM_PROJECTS.has(key)) continue;
      entries.delete(key);
      this.#notices.add(`${path}:${lineOf(key)}: "${key}" is ignored: a project may not set it.`);
    }
  }
}

const entriesIn = (file: JsonFile): JsonEntries => (file.kind === "object" ? file.entries : new Map());

function save(path: string, entries: JsonEntries): void {
  try {
    writeJsonFile(path, entries);
  } catch (error) {
    throw new Error(`The setting was not saved: ${path} cannot be written: ${reasonOf(error)}.`, { cause: error });
  }
}
