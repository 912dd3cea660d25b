/**
 * `loadRules`: the rules that watch what a model writes, from the user's `<state>/rules/*.md` and from `.bough/rules/*.md`
 * of a trusted project. Part of `agent/`; docs/rules.md shows the files to users, stream-rules.ts puts them to work.
 *
 * What is wrong in one file costs that rule, never another one.
 */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { reasonOf, systemCode } from "../session/session-errors.ts";
import { readSmallFile } from "./bounded-file.ts";
import { readFrontMatter } from "./front-matter.ts";
import type { FrontMatter, HeadValue } from "./front-matter.ts";
import { counted } from "./output-limits.ts";
import { globMatcher } from "./tools/glob.ts";
import type { ProjectFile, ProjectTrust } from "./trust.ts";

/** A part of an answer that a rule reads. */
export type RuleScope =
  | { stream: "text" | "thinking" }
  | {
      stream: "tool";
      /** Absent: the arguments of every tool. */
      tool?: string;
      /** Only calls with a path that fits. */
      fitsPath?: (path: string) => boolean;
    };

/** When a matching answer is stopped: at once, or never, and then the rule is given when the answer is complete. */
export const INTERRUPT_MODES = ["always", "prose-only", "tool-only", "never"] as const;
export type InterruptMode = (typeof INTERRUPT_MODES)[number];

/** How often a rule is given on one path: once, or again when `gap` more messages have come. */
export const REPEAT_MODES = ["once", "after-gap"] as const;
export type RepeatMode = (typeof REPEAT_MODES)[number];

export interface StreamRule {
  name: string;
  /** What the model is told. */
  text: string;
  /** One of them is enough. They are global, for `lastIndex`. */
  conditions: readonly RegExp[];
  scopes: readonly RuleScope[];
  interrupt: InterruptMode;
  repeat: RepeatMode;
  /** Messages. */
  gap: number;
  /** The rule's file and, for a sentence about it, the line of its condition. */
  place: string;
}

export interface LoadedRules {
  rules: StreamRule[];
  /** One sentence each. */
  problems: string[];
}

const DEFAULT_GAP = 10;
const MAX_FILE_BYTES = 64 * 1024;
const MAX_RULES = 200;
/** `description` is for people; the rest has a meaning here. */
const KEYS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "condition",
  "flags",
  "scope",
  "interrupt",
  "repeat",
  "gap",
]);

export function loadRules({ stateDir, project }: { stateDir: string; project?: ProjectTrust }): LoadedRules {
  const loaded: LoadedRules = { rules: [], problems: [] };
  const byName = new Map<string, StreamRule>();
  for (const file of [...ownFiles(join(stateDir, "rules"), loaded.problems), ...(project?.filesIn("rules") ?? [])]) {
    if (!file.path.endsWith(".md")) continue;
    const { rule, problems } = readRule(file);
    loaded.problems.push(...problems);
    if (rule === undefined) continue;
    const first = byName.get(rule.name);
    if (first !== undefined) {
      loaded.problems.push(`${rule.place}: the name "${rule.name}" is taken by ${first.place}; the rule is ignored.`);
    } else if (byName.size === MAX_RULES) {
      loaded.problems.push(`${rule.place}: there are more than ${counted(MAX_RULES, "rule")}; the rest is ignored.`);
      break;
    } else byName.set(rule.name, rule);
  }
  loaded.rules.push(...byName.values());
  return loaded;
}

function ownFiles(folder: string, problems: string[]): ProjectFile[] {
  const files: ProjectFile[] = [];
  for (const name of namesIn(folder, problems)) {
    const path = join(folder, name);
    const file = readSmallFile(path, MAX_FILE_BYTES);
    if (file.kind === "text") files.push({ path, text: file.text });
    else if (file.kind === "unreadable") problems.push(`${path} cannot be read: ${file.reason}; the rule is ignored.`);
  }
  return files;
}

function namesIn(folder: string, problems: string[]): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .sort();
  } catch (error) {
    // A state folder that cannot be used is told of by what must write there.
    const isMissing = ["ENOENT", "ENOTDIR"].includes(systemCode(error));
    if (!isMissing) problems.push(`${folder} cannot be read: ${reasonOf(error)}; it has no rules.`);
    return [];
  }
}

/** Ends the reading of one file; `message` completes the sentence "FILE:LINE: …". */
class RuleFault extends Error {
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** The rule of one file; undefined, with a problem, when it makes no sense. */
export function readRule({ path, text }: ProjectFile): { rule: StreamRule | undefined; problems: string[] } {
  const head = readFrontMatter(text);
  try {
    if ("problem" in head) throw new RuleFault(head.line, head.problem);
    const unknown = [...head.values.keys()].filter((key) => !KEYS.has(key));
    const problems = unknown.map((key) => `${path}:${head.lineOf(key)}: "${key}" means nothing in a rule.`);
    return { rule: ruleOf(path, head), problems };
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    return { rule: undefined, problems: [`${path}:${error.line}: ${error.message}; the rule is ignored.`] };
  }
}

function ruleOf(path: string, head: FrontMatter): StreamRule {
  const conditions = head.values.get("condition") ?? [];
  const [first] = conditions;
  if (first === undefined) throw new RuleFault(1, 'a rule needs a "condition" in its head, between two lines ---');
  const name = single(head, "name")?.text ?? basename(path, ".md");
  if (name.trim() === "") throw new RuleFault(head.lineOf("name"), "the name is blank");
  if (head.body === "") throw new RuleFault(first.line, "there is no text below the head to tell the model");
  const flags = flagsOf(single(head, "flags"));
  return {
    name: name.trim(),
    text: head.body,
    conditions: conditions.map((condition) => regexOf(condition, flags)),
    scopes: scopesOf(head.values.get("scope")),
    interrupt: choiceOf(single(head, "interrupt"), "interrupt", INTERRUPT_MODES),
    repeat: choiceOf(single(head, "repeat"), "repeat", REPEAT_MODES),
    gap: gapOf(single(head, "gap")),
    place: `${path}:${first.line}`,
  };
}

function single(head: FrontMatter, key: string): HeadValue | undefined {
  const [value, second] = head.values.get(key) ?? [];
  if (second !== undefined) throw new RuleFault(second.line, `"${key}" takes one value`);
  return value;
}

function flagsOf(value: HeadValue | undefined): string {
  if (value === undefined) return "g";
  if (!/^[imsu]*$/.test(value.text)) throw new RuleFault(value.line, '"flags" takes letters of i, m, s and u');
  return `g${value.text}`;
}

function regexOf({ text, line }: HeadValue, flags: string): RegExp {
  try {
    return new RegExp(text, flags);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Invalid regular expression: /, "") : String(error);
    throw new RuleFault(line, `the condition is no regular expression: ${reason}`);
  }
}

function choiceOf<T extends string>(value: HeadValue | undefined, key: string, choices: readonly [T, ...T[]]): T {
  if (value === undefined) return choices[0];
  const choice = choices.find((known) => known === value.text);
  if (choice === undefined) throw new RuleFault(value.line, `"${key}" is one of ${choices.join(", ")}`);
  return choice;
}

function gapOf(value: HeadValue | undefined): number {
  if (value === undefined) return DEFAULT_GAP;
  if (!/^[1-9]\d{0,5}$/.test(value.text)) throw new RuleFault(value.line, '"gap" is a number of messages, from 1 on');
  return Number(value.text);
}

const SCOPE = /^(?:(text|thinking)|tool(?::([\w.-]+)(?:\((.*)\))?)?)$/;

function scopesOf(values: readonly HeadValue[] | undefined): RuleScope[] {
  if (values === undefined) return [{ stream: "text" }, { stream: "tool" }];
  const scopes = values.flatMap(({ text, line }) => separated(text).map((scope) => scopeOf(scope, line)));
  if (scopes.length === 0) throw new RuleFault(1, '"scope" is empty');
  return scopes;
}

function scopeOf(text: string, line: number): RuleScope {
  const match = SCOPE.exec(text);
  if (match === null)
    throw new RuleFault(line, `"${text}" is no scope; there are text, thinking, tool, tool:NAME and tool:NAME(GLOB)`);
  const [, prose, tool, glob] = match;
  if (prose === "text" || prose === "thinking") return { stream: prose };
  if (tool === undefined) return { stream: "tool" };
  if (glob === undefined) return { stream: "tool", tool };
  const fitsPath = globMatcher(glob);
  if (fitsPath === undefined) throw new RuleFault(line, `"${glob}" is no file pattern`);
  return { stream: "tool", tool, fitsPath };
}

/** Parts between commas; a comma within parentheses or braces belongs to a file pattern. */
function separated(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if ("({".includes(character)) depth++;
    else if (")}".includes(character)) depth--;
    if (character === "," && depth <= 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
