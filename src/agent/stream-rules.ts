/**
 * `RuleWatch`: finds the rules that fit an answer while it streams in.
 * Part of `agent/`; rule-injection.ts makes one for each answer and says what follows from a match.
 *
 * A rule reads one stream at a time: a block of text or of thinking, or the arguments of one tool call. A match may
 * begin in one delta and end in another. So that the work grows with the answer and not with its square, a stream is
 * read every 64 characters and at its end, and a match can reach back over the last 4,096 characters.
 */
import { resolve } from "node:path";
import type { AssistantMessageEvent, ToolCall } from "@earendil-works/pi-ai";
import { withinTime } from "./bounded-match.ts";
import type { RuleScope, StreamRule } from "./rule-files.ts";
import { shownPath } from "./tools/tool-path.ts";
import { UnescapedJson } from "./unescaped-json.ts";

/** Characters between two readings of a stream. */
const STEP = 64;
/** Characters a match can reach back. */
const REACH = 4_096;
/** For all conditions on one reading; a condition that takes longer is not asked again. Milliseconds. */
const TIME_LIMIT = 500;
/** Arguments in which tools take the file they work on. */
const PATH_ARGUMENTS = ["path", "file_path", "filePath", "file"];

/** One block of an answer. */
class Stream {
  readonly kind: RuleScope["stream"];
  readonly index: number;
  readonly fitting = new Set<StreamRule>();
  readonly #json = new UnescapedJson();
  #text = "";
  #isCut = false;
  /** Characters at the end that no rule has read. */
  #unread = 0;

  constructor(kind: RuleScope["stream"], index: number) {
    this.kind = kind;
    this.index = index;
  }

  get isUntouched(): boolean {
    return this.#text === "";
  }
  isDue(hasEnded: boolean): boolean {
    return hasEnded ? this.#unread > 0 : this.#unread >= STEP;
  }

  add(delta: string): void {
    const text = this.kind === "tool" ? this.#json.add(delta) : delta;
    this.#text += text;
    this.#unread += text.length;
  }

  fits(condition: RegExp): boolean {
    // In a text that was cut, `^` must not take the cut for the beginning.
    condition.lastIndex = Math.max(this.#isCut ? 1 : 0, this.#text.length - this.#unread - REACH);
    return condition.test(this.#text);
  }

  /** All rules have read what there is. */
  wasRead(): void {
    this.#unread = 0;
    if (this.#text.length <= 2 * REACH) return;
    this.#text = this.#text.slice(-REACH - 1);
    this.#isCut = true;
  }
}

export interface RuleWatchOptions {
  /** Those that may still be given on the answer's path. */
  rules: readonly StreamRule[];
  /** Relative paths in arguments start here. */
  cwd: string;
  /** A rule whose condition was too slow; it is not asked again in this answer. */
  onSlow(rule: StreamRule): void;
}

export class RuleWatch {
  readonly #options: RuleWatchOptions;
  readonly #streams = new Map<number, Stream>();
  readonly #rules: Set<StreamRule>;

  constructor(options: RuleWatchOptions) {
    this.#options = options;
    this.#rules = new Set(options.rules);
  }

  /** The rules that fit now and did not before, with the stream they fit; each rule comes once. */
  see(event: AssistantMessageEvent): { rule: StreamRule; stream: RuleScope["stream"] }[] {
    if (this.#rules.size === 0 || !("contentIndex" in event)) return [];
    const stream = this.#streamOf(event);
    const hasEnded = event.type.endsWith("_end");
    if ("delta" in event) stream.add(event.delta);
    // Some providers give a block whole.
    else if (hasEnded && stream.isUntouched) stream.add(wholeOf(event));
    const hasNews = stream.isDue(hasEnded);
    if (hasNews) this.#read(stream);
    if (!hasNews && !hasEnded && stream.fitting.size === 0) return [];
    const found = [...stream.fitting].filter((rule) => this.#isMeant(rule, stream, event, hasEnded));
    for (const rule of found) this.#forget(rule);
    return found.map((rule) => ({ rule, stream: stream.kind }));
  }

  #streamOf(event: Extract<AssistantMessageEvent, { contentIndex: number }>): Stream {
    const known = this.#streams.get(event.contentIndex);
    if (known !== undefined) return known;
    const kind = event.type.startsWith("toolcall") ? "tool" : event.type.startsWith("thinking") ? "thinking" : "text";
    const stream = new Stream(kind, event.contentIndex);
    this.#streams.set(event.contentIndex, stream);
    return stream;
  }

  #read(stream: Stream): void {
    const rules = [...this.#rules].filter(
      (rule) => !stream.fitting.has(rule) && rule.scopes.some((scope) => scope.stream === stream.kind),
    );
    let at = 0;
    const read = (): void => {
      for (; at < rules.length; at++) {
        const rule = rules[at]!;
        if (rule.conditions.some((condition) => stream.fits(condition))) stream.fitting.add(rule);
      }
    };
    while (at < rules.length && !withinTime(TIME_LIMIT, read)) {
      const slow = rules[at++]!;
      this.#forget(slow);
      this.#options.onSlow(slow);
    }
    stream.wasRead();
  }

  #forget(rule: StreamRule): void {
    this.#rules.delete(rule);
    for (const stream of this.#streams.values()) stream.fitting.delete(rule);
  }

  /** Whether one of the rule's scopes is this stream; of a call whose path is not there yet that is not known. */
  #isMeant(rule: StreamRule, stream: Stream, event: AssistantMessageEvent, hasEnded: boolean): boolean {
    if (stream.kind !== "tool") return true;
    const call = callOf(event, stream.index);
    return rule.scopes.some((scope) => {
      if (scope.stream !== "tool") return false;
      if (scope.tool === undefined) return true;
      if (call === undefined || scope.tool !== call.name) return false;
      if (scope.fitsPath === undefined) return true;
      const path = pathOf(call, hasEnded);
      return path !== undefined && scope.fitsPath(shownPath(this.#options.cwd, resolve(this.#options.cwd, path)));
    });
  }
}

function wholeOf(event: AssistantMessageEvent): string {
  if (event.type === "toolcall_end") return JSON.stringify(event.toolCall.arguments);
  return "content" in event ? event.content : "";
}

function callOf(event: AssistantMessageEvent, index: number): ToolCall | undefined {
  if (event.type === "toolcall_end") return event.toolCall;
  const block = "partial" in event ? event.partial.content[index] : undefined;
  return block?.type === "toolCall" ? block : undefined;
}

/** The path among a call's arguments; while they stream in, the last one may be cut. */
function pathOf({ arguments: args }: ToolCall, isComplete: boolean): string | undefined {
  const names = Object.keys(args);
  const complete = new Set(isComplete ? names : names.slice(0, -1));
  const values = PATH_ARGUMENTS.filter((name) => complete.has(name)).map((name) => args[name]);
  return values.find((value) => typeof value === "string");
}
