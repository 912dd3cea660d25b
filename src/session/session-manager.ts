/**
 * `SessionManager`: one session as a tree. Appends entries, moves the leaf, answers questions about the tree, makes
 * new sessions out of it.
 * Part of `session/`; the door to this room for agent/, tui/, cli/ and programs that use bough as a library.
 */
import { resolve } from "node:path";
import type {
  CompactionEntry,
  EntryOfType,
  EntryType,
  ServiceTier,
  SessionEntry,
  SessionEntryBase,
  SessionHeader,
  SessionInitEntry,
  SessionTreeNode,
} from "../tree/entries.ts";
import type { SessionEntryIndex } from "../tree/entry-index.ts";
import type { Retrace } from "../tree/moves.ts";
import type {
  AgentMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  ImageContent,
  TextContent,
  Usage,
} from "../tree/messages.ts";
import { PathContext } from "../tree/path-context.ts";
import type { Problem } from "../tree/problems.ts";
import type { ContextState, LatestMessages, SessionContext } from "../tree/session-context.ts";
import { ROOT } from "../tree/tree-links.ts";
import type { UsageTotals } from "../tree/usage.ts";
import { branchedInMemory, branchedSession, branchedToFile, forkedSession } from "./branched-session.ts";
import { listAllSessions, listSessions, recentSession } from "./catalog.ts";
import type { SessionInfo } from "./catalog.ts";
import { follow } from "./follower.ts";
import type { FollowNews } from "./follower.ts";
import { canonicalPath, sessionsDir } from "./locations.ts";
import { MemoryStore } from "./memory-store.ts";
import { folderForNew, openSession, sessionIn, startSession } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { SessionFileError, createFailed, passedOver, rescued } from "./session-errors.ts";
import { newEntryId } from "./session-ids.ts";
import { SessionWriter } from "./session-writer.ts";
import type { SavingListener } from "./session-writer.ts";
import type { SessionStore } from "./session-store.ts";

/** A message a session may hold. The summaries' messages are derived from their entries and never stored. */
export type StorableMessage = Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>;

/** The index without what changes it. */
export type SessionIndexView = Omit<
  SessionEntryIndex,
  "append" | "kindCode" | "replayStart" | "replay" | "replayLeaf" | "moveLeaf" | "report"
>;

const NO_PLACE =
  "This session lives in a store of its own, which holds no second one; make another store and open that with openStore.";

type Fields<T extends EntryType> = Omit<EntryOfType<T>, keyof SessionEntryBase>;

/** A model, by its provider and its id there. */
export interface ModelName {
  provider: string;
  id: string;
}

export class SessionManager {
  readonly #writer: SessionWriter;
  /** Settles when the sessions this manager has left are synced. */
  #left: Promise<void> = Promise.resolve();
  #stopFollowing: () => void = () => undefined;
  /** Where the last context was asked for, and how far it was built. */
  #context: { index: SessionEntryIndex; path: PathContext } | undefined;
  /** What the contexts built so far could not use, by entry. */
  readonly #contextProblems = new Map<string, Problem>();

  private constructor(session: OpenSession) {
    this.#writer = new SessionWriter(session);
  }

  get #session(): OpenSession {
    return this.#writer.session;
  }

  /**
   * A new session for a working directory. Its file appears in `sessionDir` (default: the directory's own folder in
   * the state folder) with the first message, custom message or summary; what came before is written with it.
   */
  static create(cwd: string, sessionDir: string = sessionsDir(cwd)): SessionManager {
    return new SessionManager(startSession(resolve(cwd), canonicalPath(sessionDir)));
  }

  /**
   * The session of a file. Files of older versions are brought up to date, the original kept beside as `.v1.bak` or
   * `.v2.bak`. With `readOnly` no byte is written, ever, and appenders throw; so do they for files of newer versions.
   * Rejects with SessionFileError when the path leads to no session, with SessionInUse while another program has it
   * open; a session is this one's until it is closed or switched away from.
   */
  static async open(path: string, options: { readOnly?: boolean } = {}): Promise<SessionManager> {
    return new SessionManager(openSession(path, options));
  }

  /**
   * The session of this working directory that was used last; a new one when there is none. Subagents' do not count.
   * A file that was used after it, but is damaged, empty or of a newer version, is named in the problems.
   */
  static async continueRecent(cwd: string, sessionDir: string = sessionsDir(cwd)): Promise<SessionManager> {
    const { path, passedOver: newer } = await recentSession(cwd, sessionDir);
    const manager = path === undefined ? SessionManager.create(cwd, sessionDir) : await SessionManager.open(path);
    if (newer !== undefined) manager.#session.problems.unshift(passedOver(newer, path === undefined));
    return manager;
  }

  /**
   * The session that a store of the caller's holds; a new one for `cwd` when it is empty, written with the first
   * content. Other versions of the format can only be read here. `close` closes the store. `newSession` and
   * `createBranchedSession` throw, because a store holds one session; `exportBranch` writes a path of it to a file.
   * Throws SessionFileError when the store holds something else.
   */
  static openStore(store: SessionStore, cwd: string = process.cwd()): SessionManager {
    return new SessionManager(sessionIn(store, resolve(cwd)));
  }

  /** A session that is kept nowhere; `getSessionFile()` is undefined. */
  static inMemory(cwd: string = process.cwd()): SessionManager {
    return new SessionManager(startSession(resolve(cwd), undefined));
  }

  /**
   * Copies a whole session, all branches, to a new file for another working directory and opens that. The source is
   * not touched. Rejects with SessionFileError when the source is no session.
   */
  static async forkFrom(
    sourcePath: string,
    targetCwd: string,
    sessionDir: string = sessionsDir(targetCwd),
  ): Promise<SessionManager> {
    return new SessionManager(forkedSession(sourcePath, resolve(targetCwd), canonicalPath(sessionDir)));
  }

  /** The sessions of a working directory, the last used first. Damaged files are listed as such. */
  static async list(cwd: string, sessionDir: string = sessionsDir(cwd)): Promise<SessionInfo[]> {
    return listSessions(cwd, sessionDir);
  }

  /** The sessions of all working directories, the last used first. */
  static async listAll(): Promise<SessionInfo[]> {
    return listAllSessions();
  }

  getSessionId(): string {
    return this.#session.header.id;
  }
  getCwd(): string {
    return this.#session.header.cwd;
  }
  /** The file, also before it exists; undefined in memory. */
  getSessionFile(): string | undefined {
    return this.#session.store.path;
  }
  /** Whether anything of this session is on disk. */
  hasFile(): boolean {
    const { store, held } = this.#session;
    return store.path !== undefined && held === undefined && store.size() > 0;
  }
  /** Entries that are in memory only, because they could not be written; see `watchSaving`. */
  getUnsavedCount(): number {
    return this.#session.unsaved.length;
  }
  /** Whether appenders throw. */
  isReadOnly(): boolean {
    return this.#session.refusal !== undefined;
  }
  /** Whether it is open for reading only because that was asked for: it can follow its file, and be written later. */
  isFollower(): boolean {
    const { refusal } = this.#session;
    return refusal instanceof SessionFileError && refusal.code === "read-only";
  }
  getHeader(): SessionHeader {
    return this.#session.header;
  }
  /** The session's name; the last one given counts, on whatever branch. */
  getSessionName(): string | undefined {
    return this.#session.index.name?.text;
  }
  /** Everything known about the entries, for reading. */
  getIndex(): SessionIndexView {
    return this.#session.index;
  }

  getLeafId(): string | null {
    return this.#session.index.leafId;
  }
  getLeafEntry(): SessionEntry | undefined {
    const leaf = this.getLeafId();
    return leaf === null ? undefined : this.getEntry(leaf);
  }
  getEntry(id: string): SessionEntry | undefined {
    return this.#session.index.get(id);
  }
  /** All entries in the order of the file. */
  getEntries(): SessionEntry[] {
    return this.#session.index.entries();
  }
  /** Direct children in the order they were appended; `null` gives the roots. */
  getChildren(parentId: string | null): SessionEntry[] {
    return this.#session.index.children(parentId);
  }
  /** From the root to an entry, by default the leaf; empty when the id is unknown. */
  getBranch(fromId: string | null = this.getLeafId()): SessionEntry[] {
    return this.#session.index.path(fromId);
  }
  /** The roots with their children, oldest first. An entry whose parent is missing is a root. */
  getTree(): SessionTreeNode[] {
    return this.#session.index.tree();
  }
  getLabel(id: string): string | undefined {
    return this.#session.index.label(id);
  }
  /**
   * What the model is sent for the path to an entry, by default the leaf; empty for an unknown id. One entry more costs
   * that entry, a jump what the two paths differ in.
   */
  buildSessionContext(leafId: string | null = this.getLeafId()): SessionContext {
    const { index } = this.#session;
    return this.#paths().at(ordinalOf(index, leafId), (problem, { id }) => {
      this.#contextProblems.set(id, { ...problem, line: index.originOf(id)?.line ?? 0 });
    });
  }
  /** What the context of the path to an entry, by default the leaf, says beside its messages, without reading them. */
  getContextState(leafId: string | null = this.getLeafId()): ContextState {
    return this.#paths().stateAt(ordinalOf(this.#session.index, leafId));
  }
  /** The last messages of the context at the leaf, at most `limit`, without reading those before. */
  getLatestMessages(limit: number): LatestMessages {
    return this.#paths().latest(this.#session.index.leafOrdinal, limit);
  }
  /**
   * Reads up to `limit` entries for the context at the leaf, for callers that must not wait for all of them; true when
   * the context is there, and with it what is wrong in it.
   */
  readContext(limit: number): boolean {
    if (!this.#paths().readOn(this.#session.index.leafOrdinal, limit)) return false;
    this.buildSessionContext();
    return true;
  }
  #paths(): PathContext {
    const { index } = this.#session;
    // Another program can have made the session go on in another file.
    if (this.#context?.index !== index) this.#context = { index, path: new PathContext(index) };
    return this.#context.path;
  }
  /** Tokens and money over all branches. */
  getUsage(): UsageTotals {
    return this.#session.index.usage();
  }
  /** What was wrong in the file and with it, and what the contexts built so far could not use. */
  getProblems(): Problem[] {
    const { problems, lease } = this.#session;
    const missing = lease?.problem === undefined ? [] : [lease.problem];
    return [...missing, ...problems, ...this.#session.index.problems, ...this.#contextProblems.values()];
  }

  // Appenders: each makes an entry whose parent is the leaf, makes it the leaf and returns its id. An entry is written
  // before the tree changes; when that fails SessionFileError is thrown and nothing has changed.

  appendMessage(message: StorableMessage): string {
    const { role } = message as AgentMessage;
    if (role === "branchSummary" || role === "compactionSummary")
      throw new TypeError(`A ${role} message is derived from its entry and cannot be stored`);
    return this.#append("message", { message });
  }

  /** `level`: "off", "minimal", …; `configured`: what the user chose, such as "auto", when that differs. */
  appendThinkingLevelChange(level: string | null, configured?: string | null): string {
    return this.#append("thinking_level_change", { thinkingLevel: level, configured });
  }

  appendModelChange(provider: string, modelId: string): string {
    return this.#append("model_change", { provider, modelId, model: `${provider}/${modelId}` });
  }

  /** `null` clears. */
  appendServiceTierChange(serviceTier: ServiceTier | string | null): string {
    return this.#append("service_tier_change", { serviceTier });
  }

  /** "none" leaves a mode. */
  appendModeChange(mode: string, data?: Record<string, unknown>): string {
    return this.#append("mode_change", { mode, data });
  }

  appendMCPToolSelection(selectedToolNames: readonly string[]): string {
    return this.#append("mcp_tool_selection", { selectedToolNames: [...selectedToolNames] });
  }

  appendTtsrInjection(injectedRules: readonly string[]): string {
    return this.#append("ttsr_injection", { injectedRules: [...injectedRules] });
  }

  /** Marks the session as a subagent's. */
  appendSessionInit(init: Omit<SessionInitEntry, keyof SessionEntryBase>): string {
    const { systemPrompt, task, tools, outputSchema } = init;
    return this.#append("session_init", { systemPrompt, task, tools: [...tools], outputSchema });
  }

  /** State of an extension; the model never sees it. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append("custom", { customType, data });
  }

  /** A message of an extension to the model; `display: false` hides it from the screen. */
  appendCustomMessageEntry(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: unknown,
  ): string {
    return this.#append("custom_message", { customType, content, display, details });
  }

  /** Names an entry; an absent or empty label clears. Throws `Entry <id> not found`. */
  appendLabelChange(targetId: string, label?: string): string {
    this.#mustHave(targetId);
    return this.#append("label", { targetId, label: label === "" ? undefined : label });
  }

  /**
   * Replaces, for the model, what comes before `firstKeptEntryId` by a summary. `tokensBefore`: the context's size
   * until then; `usage`: what the summary cost, of the model that wrote it. Throws when the first kept entry is not on
   * the current branch.
   */
  appendCompaction(
    summary: string,
    firstKeptEntryId: string,
    tokensBefore: number,
    details?: unknown,
    fromExtension?: boolean,
    preserveData?: CompactionEntry["preserveData"],
    usage?: Usage,
    model?: ModelName,
  ): string {
    this.#mustHave(firstKeptEntryId);
    const { index } = this.#session;
    if (!index.pathOrdinals(index.leafId).includes(index.ordinal(firstKeptEntryId) ?? ROOT))
      throw new Error(`Entry ${firstKeptEntryId} is not on the current branch`);
    return this.#append("compaction", {
      summary,
      firstKeptEntryId,
      tokensBefore,
      details,
      preserveData,
      fromExtension,
      ...writtenBy(model),
      usage,
    });
  }

  /** Records what a request outside of the conversation has used, such as that for a summary that failed. */
  appendUsage(kind: string, model: ModelName, usage: Usage): string {
    return this.#append("usage", { kind, provider: model.provider, model: model.id, usage });
  }

  /**
   * Names the session; line breaks and control characters become spaces, an empty name clears. Returns undefined and
   * does nothing when an automatic name would replace the user's.
   */
  setSessionName(name: string, source: "auto" | "user" = "user"): string | undefined {
    if (source === "auto" && this.#session.index.name?.source === "user") return undefined;
    return this.#append("session_info", { name: oneLine(name), source });
  }

  // Moves of the leaf write no entry. The next flush() writes where the leaf is, unless an entry has followed.

  /** Moves the leaf to an entry. Throws `Entry <id> not found`. */
  branch(id: string): void {
    this.#mustHave(id);
    this.#session.index.moveLeaf(id);
  }

  /** Moves the leaf before the first entry: what is appended next is a root. */
  resetLeaf(): void {
    this.#session.index.moveLeaf(null);
  }

  /** Moves the leaf and appends there a summary of what was left; `null` is before the first entry. Returns its id. */
  branchWithSummary(
    id: string | null,
    summary: string,
    details?: unknown,
    fromExtension?: boolean,
    usage?: Usage,
    model?: ModelName,
  ): string {
    if (id !== null) this.#mustHave(id);
    const fields = { fromId: id ?? "root", summary, details, fromExtension, ...writtenBy(model), usage };
    return this.#append("branch_summary", fields, id);
  }

  // The history of moves, as the file has it. A step in it is written at once, by a leaf record that names it.

  /** Whether there is a place that a move has left. */
  canGoBack(): boolean {
    return this.getRetraceTarget("back") !== undefined;
  }
  /** Whether there is a place that was gone back from, and nothing has been added or jumped to since. */
  canGoForward(): boolean {
    return this.getRetraceTarget("forward") !== undefined;
  }
  /** Where `back()` or `forward()` would go: an entry, null for before the first one, undefined for nowhere. */
  getRetraceTarget(via: Retrace): string | null | undefined {
    const { index } = this.#session;
    const target = index.moves.target(via, index.leafOrdinal);
    if (target === undefined) return undefined;
    return target < 0 ? null : index.at(target).id;
  }
  /**
   * Moves the leaf to where it was before the latest move, with all that was appended there. Returns that place, null
   * for before the first entry; undefined when there is none and nothing was done. Durable by the next flush().
   */
  back(): string | null | undefined {
    return this.#retrace("back");
  }
  /** Undoes the latest `back()`; otherwise like it. */
  forward(): string | null | undefined {
    return this.#retrace("forward");
  }

  // New sessions out of this one.

  /** Starts an empty session in the same folder (out of the examples') and switches to it. Returns its future file; undefined in memory. */
  newSession(options: { parentSession?: string } = {}): string | undefined {
    this.#mustKnowPlace();
    this.#writer.retry();
    this.#writer.writeLeaf();
    const { header, dir } = this.#session;
    this.#switchTo(startSession(header.cwd, folderForNew(dir, header.cwd), options.parentSession));
    return this.getSessionFile();
  }

  /**
   * Switches to the session of a file, as `open` would; on an error nothing has changed. With its own file, a session
   * that is open for reading takes over the writing, or one that is written lets go of it and is only read.
   */
  async setSessionFile(path: string, options: { readOnly?: boolean } = {}): Promise<void> {
    await this.flush();
    this.#switchTo(openSession(path, { ...options, lease: this.#session.lease }));
  }

  /**
   * Lets a session that is open for reading grow with its file: `listener` is told of all that other programs have added,
   * within moments, when it is in the tree. The leaf goes where a reader of the file finds it. Ends when the returned
   * function is called or another session is switched to. Throws for a session that is written here.
   */
  follow(listener: (news: FollowNews) => void): () => void {
    if (this.#session.refusal === undefined) throw new Error("A session that is written here follows nobody");
    this.#stopFollowing();
    this.#stopFollowing = follow(this.#session, listener);
    return this.#stopFollowing;
  }

  /**
   * Writes the path from the root to an entry as a session of its own and switches to it. Returns its file; in memory
   * the entries are replaced and undefined is returned. Labels in effect on the path are kept, entry ids too. Throws
   * `Entry <id> not found`, and on any error nothing has changed; the file left behind is never touched.
   */
  createBranchedSession(leafId: string): string | undefined {
    this.#mustHave(leafId);
    if (this.#session.refusal !== undefined) throw this.#session.refusal;
    this.#mustKnowPlace();
    this.#writer.retry();
    if (this.#session.dir === undefined) {
      this.#switchTo(branchedInMemory(this.#session, leafId));
      return undefined;
    }
    this.#switchTo(branchedSession(this.#session, leafId, this.#session.dir));
    return this.getSessionFile();
  }

  /** Writes the same file as `createBranchedSession` without switching to it, and returns its path. */
  exportBranch(leafId: string): string {
    this.#mustHave(leafId);
    const { header, dir } = this.#session;
    return branchedToFile(this.#session, leafId, dir ?? canonicalPath(sessionsDir(header.cwd)));
  }

  /**
   * Resolves when every entry and the leaf survive a power cut; rejects when something does not. State without any
   * content is not written, so that a session nobody talked to leaves no file.
   */
  async flush(): Promise<void> {
    this.#writer.retry();
    this.#writer.writeLeaf();
    const left = this.#left;
    try {
      await Promise.all([this.#session.store.flush(), left]);
    } catch (error) {
      // Told once: what a session left behind has lost must not stop the work in this one.
      if (this.#left === left) this.#left = Promise.resolve();
      throw error;
    }
  }

  /**
   * Tells `listener` what becomes of the file; `undefined` ends it. With `keepsUnsaved` an entry that cannot be written
   * stays in the tree: the listener is told at once, each later write tries again with all that is unsaved, and `flush`
   * rejects until it is saved. Otherwise the appender throws and the tree is as before.
   */
  watchSaving(listener: SavingListener | undefined, options: { keepsUnsaved?: boolean } = {}): void {
    this.#writer.listener = listener;
    this.#writer.keepsUnsaved = listener !== undefined && options.keepsUnsaved === true;
  }

  /**
   * Writes all of the session to a new file, which must not exist, and goes on in it; also what could not be saved, and a
   * session in memory. Returns the path. Throws SessionFileError, and nothing has changed then.
   */
  saveAs(path: string): string {
    const target = canonicalPath(path);
    if (this.#session.refusal !== undefined) throw this.#session.refusal;
    try {
      this.#writer.saveAs(target);
    } catch (error) {
      throw createFailed(target, error);
    }
    return target;
  }

  /**
   * Flushes and lets go of the file; appenders throw afterwards. When something cannot be saved it rejects with the
   * reason, and what is unsaved goes to a recovery file if there is a place for one.
   */
  async close(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      const path = this.#writer.rescue();
      throw path === undefined ? error : rescued(error, path);
    } finally {
      this.#stopFollowing();
      this.#session.store.close();
      this.#session.lease?.release();
    }
  }

  #mustHave(id: string): void {
    if (!this.#session.index.has(id)) throw new Error(`Entry ${id} not found`);
  }

  /** Where the next session goes: into a folder, or nowhere after one that was nowhere. */
  #mustKnowPlace(): void {
    const { dir, store } = this.#session;
    if (dir === undefined && !(store instanceof MemoryStore)) throw new Error(NO_PLACE);
  }

  #append<T extends EntryType>(type: T, fields: Fields<T>, parentId: string | null = this.getLeafId()): string {
    const session = this.#session;
    if (session.refusal !== undefined) throw session.refusal;
    const id = newEntryId((candidate) => session.index.isTaken(candidate));
    const timestamp = new Date().toISOString();
    const entry = { type, id, parentId, timestamp, ...fields } as unknown as SessionEntry;
    this.#writer.write(withoutUndefined(entry));
    return id;
  }

  #retrace(via: Retrace): string | null | undefined {
    const target = this.getRetraceTarget(via);
    if (target === undefined) return undefined;
    this.#writer.retrace(target, via);
    return target;
  }

  /** The session left behind is synced in the background; the next flush() tells whether that went well. */
  #switchTo(next: OpenSession): void {
    const { store, lease } = this.#session;
    // All is written; syncing needs no lease, and the session may be opened elsewhere at once.
    if (lease !== next.lease) lease?.release();
    const synced = store.flush().finally(() => store.close());
    this.#left = Promise.all([this.#left, synced]).then(() => undefined);
    this.#left.catch(() => undefined);
    this.#contextProblems.clear();
    this.#context = undefined;
    this.#stopFollowing();
    this.#writer.switchTo(next);
  }
}

/** An absent member is not the same as one that is undefined once the entry has been read back from its line. */
function withoutUndefined<T extends object>(entry: T): T {
  for (const name in entry)
    if (entry[name] === undefined)
      return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as T;
  return entry;
}

/** As entries name a model. */
const writtenBy = (model: ModelName | undefined): { provider?: string; model?: string } =>
  model === undefined ? {} : { provider: model.provider, model: model.id };

/** C0 and C1 control characters and the line and paragraph separators. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();

/** ROOT for null and for an unknown id. */
const ordinalOf = (index: SessionEntryIndex, id: string | null): number =>
  id === null ? ROOT : (index.ordinal(id) ?? ROOT);
