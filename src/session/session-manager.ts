/**
 * `SessionManager`: one session as a tree. Appends entries, moves the leaf, answers questions about the tree, makes
 * new sessions out of it.
 * Part of `session/`; the door to this room for agent/, tui/, cli/ and programs that use bough as a library.
 */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { kindOf } from "../tree/kinds.ts";
import type {
  CompactionEntry,
  EntryOfType,
  EntryType,
  LeafRecord,
  ServiceTier,
  SessionEntry,
  SessionEntryBase,
  SessionHeader,
  SessionInitEntry,
  SessionTreeNode,
} from "../tree/entries.ts";
import type { Origin, SessionEntryIndex } from "../tree/entry-index.ts";
import { encodeLine } from "../tree/format.ts";
import type { Retrace } from "../tree/moves.ts";
import type {
  AgentMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  ImageContent,
  TextContent,
} from "../tree/messages.ts";
import { PathContext } from "../tree/path-context.ts";
import type { Problem } from "../tree/problems.ts";
import type { SessionContext } from "../tree/session-context.ts";
import { ROOT } from "../tree/tree-links.ts";
import type { UsageTotals } from "../tree/usage.ts";
import { branchedInMemory, branchedToFile, forkedToFile } from "./branched-session.ts";
import { listAllSessions, listSessions } from "./catalog.ts";
import type { SessionInfo } from "./catalog.ts";
import { canonicalPath, sessionsDir } from "./locations.ts";
import { openSession, startSession, folderForNew } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { newEntryId } from "./session-ids.ts";

/** A message a session may hold. The summaries' messages are derived from their entries and never stored. */
export type StorableMessage = Exclude<AgentMessage, BranchSummaryMessage | CompactionSummaryMessage>;

/** The index without what changes it. */
export type SessionIndexView = Omit<
  SessionEntryIndex,
  "append" | "kindCode" | "replayStart" | "replay" | "replayLeaf" | "moveLeaf" | "report"
>;

type Fields<T extends EntryType> = Omit<EntryOfType<T>, keyof SessionEntryBase>;

export class SessionManager {
  #session: OpenSession;
  /** Settles when the sessions this manager has left are synced. */
  #left: Promise<void> = Promise.resolve();
  /** Where the last context was asked for, and how far it was built. */
  #context: PathContext | undefined;
  /** What the contexts built so far could not use, by entry. */
  readonly #contextProblems = new Map<string, Problem>();

  private constructor(session: OpenSession) {
    this.#session = session;
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
   * Rejects with SessionFileError when the path leads to no session.
   */
  static async open(path: string, options: { readOnly?: boolean } = {}): Promise<SessionManager> {
    return new SessionManager(openSession(path, options));
  }

  /** The session of this working directory that was used last; a new one when there is none. Subagents' do not count. */
  static async continueRecent(cwd: string, sessionDir: string = sessionsDir(cwd)): Promise<SessionManager> {
    const sessions = await listSessions(cwd, sessionDir);
    const recent = sessions.find((session) => session.kind === "ok" && !session.isSubagent);
    return recent === undefined ? SessionManager.create(cwd, sessionDir) : SessionManager.open(recent.path);
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
    return new SessionManager(openMade(forkedToFile(sourcePath, resolve(targetCwd), canonicalPath(sessionDir))));
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
    return this.#session.store.path !== undefined && this.#session.held === undefined;
  }
  /** Whether appenders throw. */
  isReadOnly(): boolean {
    return this.#session.refusal !== undefined;
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
    this.#context ??= new PathContext(index);
    return this.#context.at(leafId === null ? ROOT : (index.ordinal(leafId) ?? ROOT), (problem, { id }) => {
      this.#contextProblems.set(id, { ...problem, line: index.originOf(id)?.line ?? 0 });
    });
  }
  /** Tokens and money over all branches. */
  getUsage(): UsageTotals {
    return this.#session.index.usage();
  }
  /** What was wrong in the file and with it, and what the contexts built so far could not use. */
  getProblems(): Problem[] {
    return [...this.#session.problems, ...this.#session.index.problems, ...this.#contextProblems.values()];
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
   * until then. Throws when the first kept entry is not on the current branch.
   */
  appendCompaction(
    summary: string,
    firstKeptEntryId: string,
    tokensBefore: number,
    details?: unknown,
    fromExtension?: boolean,
    preserveData?: CompactionEntry["preserveData"],
  ): string {
    this.#mustHave(firstKeptEntryId);
    if (!this.getBranch().some((entry) => entry.id === firstKeptEntryId))
      throw new Error(`Entry ${firstKeptEntryId} is not on the current branch`);
    return this.#append("compaction", {
      summary,
      firstKeptEntryId,
      tokensBefore,
      details,
      preserveData,
      fromExtension,
    });
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
  branchWithSummary(id: string | null, summary: string, details?: unknown, fromExtension?: boolean): string {
    if (id !== null) this.#mustHave(id);
    return this.#append("branch_summary", { fromId: id ?? "root", summary, details, fromExtension }, id);
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
    this.#writeLeaf();
    const { header, dir } = this.#session;
    this.#switchTo(startSession(header.cwd, folderForNew(dir, header.cwd), options.parentSession));
    return this.getSessionFile();
  }

  /** Switches to the session of a file, as `open` would; on an error nothing has changed. */
  async setSessionFile(path: string): Promise<void> {
    await this.flush();
    this.#switchTo(openSession(path));
  }

  /**
   * Writes the path from the root to an entry as a session of its own and switches to it. Returns its file; in memory
   * the entries are replaced and undefined is returned. Labels in effect on the path are kept, entry ids too. Throws
   * `Entry <id> not found`, and on any error nothing has changed; the file left behind is never touched.
   */
  createBranchedSession(leafId: string): string | undefined {
    this.#mustHave(leafId);
    if (this.#session.refusal !== undefined) throw this.#session.refusal;
    if (this.#session.dir === undefined) {
      this.#switchTo(branchedInMemory(this.#session, leafId));
      return undefined;
    }
    this.#switchTo(openMade(branchedToFile(this.#session, leafId, this.#session.dir)));
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
    this.#writeLeaf();
    const left = this.#left;
    try {
      await Promise.all([this.#session.store.flush(), left]);
    } catch (error) {
      // Told once: what a session left behind has lost must not stop the work in this one.
      if (this.#left === left) this.#left = Promise.resolve();
      throw error;
    }
  }

  /** Flushes and lets go of the file; appenders throw afterwards. */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      this.#session.store.close();
    }
  }

  #mustHave(id: string): void {
    if (!this.#session.index.has(id)) throw new Error(`Entry ${id} not found`);
  }

  #append<T extends EntryType>(type: T, fields: Fields<T>, parentId: string | null = this.getLeafId()): string {
    const session = this.#session;
    if (session.refusal !== undefined) throw session.refusal;
    const id = newEntryId((candidate) => session.index.isTaken(candidate));
    const timestamp = new Date().toISOString();
    const entry = { type, id, parentId, timestamp, ...withoutUndefined(fields) } as unknown as SessionEntry;
    session.index.append(entry, this.#write(entry));
    const moves = kindOf(entry).movesLeaf === "always" || parentId === session.writtenLeaf;
    session.writtenLeaf = moves ? id : undefined;
    return id;
  }

  /** Until there is content, lines wait; then all go in one write. Returns where the entry's line is, if anywhere. */
  #write(entry: SessionEntry): Origin | undefined {
    const session = this.#session;
    const line = encodeLine(entry);
    if (session.held !== undefined && kindOf(entry).bookkeeping) {
      session.held.push(line);
      session.lines++;
      return undefined;
    }
    session.store.append(...(session.held ?? []), line);
    session.held = undefined;
    session.lines++;
    const length = Buffer.byteLength(line);
    return { line: session.lines, offset: session.store.size() - length - 1, length };
  }

  /** Writes where the leaf is, if any reader of the file would find it elsewhere. */
  #writeLeaf(): void {
    const { refusal, held, writtenLeaf, index } = this.#session;
    if (refusal !== undefined || held !== undefined || writtenLeaf === index.leafId) return;
    this.#recordMove(index.leafId, "jump");
  }

  #retrace(via: Retrace): string | null | undefined {
    const target = this.getRetraceTarget(via);
    if (target === undefined) return undefined;
    // A jump that no record tells of yet would not be there to be undone.
    if (this.#session.writtenLeaf !== this.getLeafId()) this.#recordMove(this.getLeafId(), "jump");
    this.#recordMove(target, via);
    return target;
  }

  /** Where nothing may be written, the moves last as long as the session is open. */
  #recordMove(target: string | null, via: LeafRecord["via"]): void {
    const session = this.#session;
    const id = newEntryId((candidate) => session.index.isTaken(candidate));
    const record: LeafRecord = { type: "leaf", id, parentId: target, timestamp: new Date().toISOString(), via };
    if (session.held !== undefined) session.held.push(encodeLine(record));
    else if (session.refusal === undefined) session.store.append(encodeLine(record));
    session.lines++;
    session.index.replayLeaf(record, session.lines);
    session.writtenLeaf = target;
  }

  /** The session left behind is synced in the background; the next flush() tells whether that went well. */
  #switchTo(next: OpenSession): void {
    const { store } = this.#session;
    const synced = store.flush().finally(() => store.close());
    this.#left = Promise.all([this.#left, synced]).then(() => undefined);
    this.#left.catch(() => undefined);
    this.#contextProblems.clear();
    this.#context = undefined;
    this.#session = next;
  }
}

/** The session of a file just made; a file that cannot be opened is taken away again. */
function openMade(path: string): OpenSession {
  try {
    return openSession(path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** An absent member is not the same as one that is undefined once the entry has been read back from its line. */
function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** C0 and C1 control characters and the line and paragraph separators. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
