/**
 * A session as the simplest program that could be right: lists, and a walk over all of them for every question. Random
 * operations are done to it and to SessionManager, and the two are compared after each.
 */
import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "../../src/session/session-manager.ts";
import { textOf } from "../../src/tree/content.ts";
import type { SessionEntry } from "../../src/tree/entries.ts";
import { checkLaws } from "./laws.ts";
import { SlowHistory } from "./slow-history.ts";
import type { Place } from "./slow-history.ts";
import { assistant, temporaryFolder, user } from "./session-files.ts";

interface Move {
  type: "leaf";
  target: string | null;
  via: "jump" | "back" | "forward";
}

/** Kinds that never move the leaf of another branch when a file is read. */
const FOLLOWERS = new Set(["label", "session_info", "custom"]);
const CONTENT = new Set(["message", "custom_message", "compaction", "branch_summary"]);

class SlowModel {
  /** What has been written, in order. */
  log: (SessionEntry | Move)[] = [];
  leaf: string | null = null;
  /** Whether a file exists. */
  saved = false;

  get entries(): SessionEntry[] {
    return this.log.filter((record): record is SessionEntry => (record.type as string) !== "leaf");
  }
  find(id: string | null): SessionEntry | undefined {
    return this.entries.find((entry) => entry.id === id);
  }
  path(id: string | null): SessionEntry[] {
    const entry = this.find(id);
    return entry === undefined ? [] : [...this.path(entry.parentId), entry];
  }
  children(id: string | null): SessionEntry[] {
    return this.entries.filter((entry) => entry.parentId === id);
  }
  /** In the order in which they were given. */
  labels(): Map<string, string> {
    const labels = new Map<string, string>();
    for (const entry of this.entries) {
      if (entry.type !== "label") continue;
      labels.delete(entry.targetId);
      if (entry.label !== undefined) labels.set(entry.targetId, entry.label);
    }
    return labels;
  }
  name(): string | undefined {
    let name: { text: string; source: string } | undefined;
    for (const entry of this.entries) {
      if (entry.type !== "session_info" || (entry.source === "auto" && name?.source === "user")) continue;
      name = entry.name === "" ? undefined : { text: entry.name, source: entry.source ?? "user" };
    }
    return name?.text;
  }
  output(): number {
    let sum = 0;
    for (const entry of this.entries)
      if (entry.type === "message" && entry.message.role === "assistant") sum += entry.message.usage.output;
    return sum;
  }
  /** The texts the model would be sent. */
  context(): string[] {
    const path = this.path(this.leaf);
    const at = path.findLastIndex((entry) => entry.type === "compaction");
    const compaction = path[at];
    if (compaction?.type !== "compaction") return path.flatMap(textsOf);
    const first = path.findIndex((entry) => entry.id === compaction.firstKeptEntryId);
    return [compaction.summary, ...path.slice(first, at).flatMap(textsOf), ...path.slice(at + 1).flatMap(textsOf)];
  }
  /** Where a program that opens the file now finds the leaf. */
  leafOnDisk(): string | null {
    let leaf: string | null = null;
    for (const record of this.log) {
      if (record.type === "leaf") leaf = (record as Move).target;
      else if (!FOLLOWERS.has(record.type) || record.parentId === leaf) leaf = record.id;
    }
    return leaf;
  }
  history(): SlowHistory {
    return new SlowHistory(
      this.log.map((record, n) =>
        record.type === "leaf" ? { ...record, id: `move ${n}`, parentId: (record as Move).target } : record,
      ),
    );
  }
  writeLeaf(): void {
    if (this.leafOnDisk() !== this.leaf) this.log.push({ type: "leaf", target: this.leaf, via: "jump" });
  }
}

function textsOf(entry: SessionEntry): string[] {
  if (entry.type === "branch_summary") return entry.summary === "" ? [] : [entry.summary];
  if (entry.type === "custom_message") return [textOf(entry.content)];
  if (entry.type !== "message") return [];
  const { message } = entry;
  if (message.role === "assistant") return message.content.map((block) => (block.type === "text" ? block.text : ""));
  return message.role === "user" ? [textOf(message.content)] : [];
}

/** Numbers from 0 up to `limit`, which depend on the seed alone (mulberry32). */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

class Run {
  readonly model = new SlowModel();
  session: SessionManager;
  readonly random: (limit: number) => number;
  readonly inMemory: boolean;
  readonly folder = temporaryFolder();
  #texts = 0;

  constructor(seed: number) {
    this.random = randomNumbers(seed);
    this.inMemory = this.random(4) === 0;
    this.session = this.inMemory ? SessionManager.inMemory("/w") : SessionManager.create("/w", this.folder);
  }

  text(): string {
    return ["", "é🙂 ", "a\u2028b ", "\u0000 "][this.random(4)]! + String(this.#texts++);
  }
  anyEntry(): string | undefined {
    const { entries } = this.model;
    return entries[this.random(entries.length || 1)]?.id;
  }

  /** After an appender: the model takes the entry over, having checked where it hangs. */
  took(id: string, parentId = this.model.leaf): void {
    const entry = this.session.getEntry(id)!;
    assert.equal(entry.parentId, parentId);
    assert.equal(this.model.find(id), undefined);
    this.model.log.push(structuredClone(entry));
    this.model.leaf = id;
    if (!this.inMemory && CONTENT.has(entry.type)) this.model.saved = true;
  }

  append(): void {
    const { session } = this;
    const appenders: (() => string)[] = [
      () => session.appendMessage(user(this.text())),
      () => session.appendMessage(assistant(this.text(), this.random(50))),
      () => session.appendCustomEntry("state", { text: this.text() }),
      () => session.appendCustomMessageEntry("note", this.text(), this.random(2) === 0),
      () => session.appendModelChange("p", this.text()),
      () => session.appendThinkingLevelChange("high"),
      () => session.appendModeChange("plan", { file: this.text() }),
      () => session.appendServiceTierChange({ openai: "flex" }),
      () => session.appendTtsrInjection([this.text()]),
      () => session.appendMCPToolSelection(["a"]),
    ];
    this.took(appenders[this.random(appenders.length)]!());
  }
  label(): void {
    const target = this.anyEntry();
    if (target === undefined) return;
    this.took(this.session.appendLabelChange(target, ["", undefined, this.text()][this.random(3)]));
  }
  name(): void {
    const before = this.model.name();
    const id = this.session.setSessionName(`n${this.random(9)}`, this.random(2) === 0 ? "auto" : "user");
    if (id !== undefined) this.took(id);
    else assert.notEqual(before, undefined);
  }
  jump(): void {
    const target = this.random(6) === 0 ? null : this.anyEntry();
    if (target === undefined) return;
    if (target === null) this.session.resetLeaf();
    else this.session.branch(target);
    this.model.leaf = target;
  }
  summarise(): void {
    const target = this.random(5) === 0 ? null : (this.anyEntry() ?? null);
    this.took(this.session.branchWithSummary(target, this.text()), target);
  }
  compact(): void {
    const path = this.model.path(this.model.leaf);
    if (path.length === 0) return;
    const kept = path[this.random(path.length)]!;
    this.took(this.session.appendCompaction(this.text(), kept.id, 1000));
  }
  async flush(): Promise<void> {
    await this.session.flush();
    if (this.model.saved || this.inMemory) this.model.writeLeaf();
  }
  retrace(): void {
    const { model, session } = this;
    const via = this.random(2) === 0 ? "back" : "forward";
    const target = model.history().next(via, model.leaf);
    assert.equal(session[via](), target);
    if (target === undefined) return;
    model.writeLeaf();
    model.log.push({ type: "leaf", target, via });
    model.leaf = target;
  }
  /** Another program opens the file as it is now, as after a crash. */
  async reopen(): Promise<void> {
    if (!this.model.saved) return;
    const path = this.session.getSessionFile()!;
    const copy = join(this.folder, `crash-${this.#texts++}.jsonl`);
    copyFileSync(path, copy);
    if (this.random(3) === 0) appendFileSync(copy, '{"type":"message","id":"torn","parentId":nu');
    await this.session.close();
    this.session = await SessionManager.open(copy);
    this.model.leaf = this.model.leafOnDisk();
  }
  branched(): void {
    const { model, session } = this;
    const target = this.anyEntry();
    if (target === undefined) return;
    const path = model.path(target);
    const name = model.name();
    const labels = [...model.labels()].filter(([id]) =>
      path.some((entry) => entry.id === id && entry.type !== "label"),
    );
    const copy = new SlowModel();
    for (const entry of path) {
      if (entry.type === "label") continue;
      const changed = { ...entry, parentId: copy.leaf };
      if (changed.type === "compaction") changed.firstKeptEntryId = keptFrom(path, changed.firstKeptEntryId);
      copy.log.push(changed);
      copy.leaf = entry.id;
    }
    const file = session.createBranchedSession(target);
    assert.equal(file, session.getSessionFile());
    const added = session.getEntries().slice(copy.log.length);
    const named = name === undefined || this.inMemory ? [] : [name];
    assert.deepEqual(
      added.map((entry) => (entry.type === "label" ? [entry.targetId, entry.label] : entry.type)),
      [...labels, ...named.map(() => "session_info")],
    );
    for (const entry of added) {
      assert.equal(entry.parentId, copy.leaf);
      copy.log.push(structuredClone(entry));
      copy.leaf = entry.id;
    }
    model.log = copy.log;
    model.leaf = copy.leaf;
    model.saved = !this.inMemory;
  }

  /** The two agree on everything that can be asked. */
  compare(): void {
    const { model, session } = this;
    assert.deepEqual(session.getEntries(), model.entries);
    assert.equal(session.hasFile(), model.saved);
    assert.equal(existsSync(session.getSessionFile() ?? ""), model.saved);
    assert.equal(session.getLeafId(), model.leaf);
    assert.deepEqual(session.getLeafEntry(), model.find(model.leaf));
    assert.deepEqual(session.getBranch(), model.path(model.leaf));
    assert.deepEqual(new Map(session.getIndex().labels()), model.labels());
    assert.equal(session.getSessionName(), model.name());
    assert.equal(session.getUsage().output, model.output());
    assert.deepEqual(session.buildSessionContext().messages.map(textOfMessage), model.context());
    const history = model.history();
    const index = session.getIndex();
    const placesOf = (ordinals: readonly number[]): Place[] => ordinals.map((n) => (n < 0 ? null : index.at(n).id));
    assert.deepEqual([placesOf(index.moves.back), placesOf(index.moves.forward)], [history.back, history.forward]);
    const next = [history.next("back", model.leaf), history.next("forward", model.leaf)];
    assert.deepEqual([session.getRetraceTarget("back"), session.getRetraceTarget("forward")], next);
    assert.deepEqual(
      [session.canGoBack(), session.canGoForward()],
      next.map((place) => place !== undefined),
    );
    const parent = this.anyEntry() ?? null;
    for (const id of [null, model.leaf, parent]) assert.deepEqual(session.getChildren(id), model.children(id));
  }
}

/** The first entry from `id` on that is no label. */
function keptFrom(path: readonly SessionEntry[], id: string): string {
  const from = path.findIndex((entry) => entry.id === id);
  return path.slice(from).find((entry) => entry.type !== "label")!.id;
}

function textOfMessage(message: object): string {
  const { summary, content } = message as { summary?: string; content?: string | { text: string }[] };
  return summary ?? (typeof content === "string" ? content : content!.map((block) => block.text).join(""));
}

const OPERATIONS: readonly { weight: number; run: (run: Run) => void | Promise<void> }[] = [
  { weight: 12, run: (run) => run.append() },
  { weight: 3, run: (run) => run.label() },
  { weight: 2, run: (run) => run.name() },
  { weight: 5, run: (run) => run.jump() },
  { weight: 3, run: (run) => run.retrace() },
  { weight: 2, run: (run) => run.summarise() },
  { weight: 2, run: (run) => run.compact() },
  { weight: 2, run: (run) => run.flush() },
  { weight: 2, run: (run) => run.reopen() },
  { weight: 1, run: (run) => run.branched() },
];

/** Does `steps` random operations; a failure names the seed. */
export async function compareWithSlowModel(seed: number, steps: number): Promise<void> {
  const run = new Run(seed);
  const urn = OPERATIONS.flatMap(({ weight, run: operation }) => Array.from({ length: weight }, () => operation));
  try {
    for (let step = 0; step < steps; step++) {
      await urn[run.random(urn.length)]!(run);
      run.compare();
    }
    await checkLaws(run.session);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await run.session.close();
  }
}
