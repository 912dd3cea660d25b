/**
 * `SessionWriter`: how entries get from memory into a session's store, and what happens when they do not.
 * Part of `session/`; SessionManager has one. It holds the open session, because a session whose file is taken away by
 * another program goes on in another file.
 */
import { dirname, join } from "node:path";
import { kindOf } from "../tree/kinds.ts";
import type { LeafRecord, SessionEntry } from "../tree/entries.ts";
import { takeAppended } from "../tree/appended-lines.ts";
import type { Origin } from "../tree/entry-index.ts";
import type { Retrace } from "../tree/moves.ts";
import type { Problem } from "../tree/problems.ts";
import { Lease } from "./lease.ts";
import { ensurePrivateDir, stateDir } from "./locations.ts";
import { writeNewFile } from "./new-file.ts";
import { openMade } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { sealedLine, checksum } from "./sealed-line.ts";
import { FileLost, WriteFailed, foreignLines, movedOut } from "./session-errors.ts";
import { newEntryId } from "./session-ids.ts";
import type { Appended, ForeignBytes } from "./session-store.ts";
import { wholeSession } from "./whole-session.ts";

/** What a program that writes a session should know, as it happens. */
export type SavingEvent =
  /** An entry could not be written; it is in memory, and written with the next one that can be. */
  | { type: "unsaved"; error: Error; count: number }
  /** All that was unsaved is written. */
  | { type: "saved" }
  /** Another program has written to the file; what it wrote is in the tree, and the leaf where it was. */
  | { type: "foreign"; entries: number; problem: Problem }
  /** Another program has replaced, removed or cut the file; the session goes on in a new one. */
  | { type: "moved"; path: string; problem: Problem };

export type SavingListener = (event: SavingEvent) => void;

export class SessionWriter {
  session: OpenSession;
  listener: SavingListener | undefined;
  /** Entries stay in memory when they cannot be written; else the appender throws. */
  keepsUnsaved = false;
  /** Other programs' lines are told of once a session. */
  #toldForeign = false;

  constructor(session: OpenSession) {
    this.session = session;
  }

  /** Another session; what the old one left unsaved must have been dealt with. */
  switchTo(session: OpenSession): void {
    this.session = session;
    this.#toldForeign = false;
  }

  /** Writes an entry and adds it to the tree as the leaf. Until there is content, lines wait; then all go in one write. */
  write(entry: SessionEntry): void {
    const { session } = this;
    const line = sealedLine(entry);
    if (session.held === undefined) this.#send([...session.unsaved, line], entry);
    else if (!kindOf(entry).bookkeeping) this.#send([...session.held, line], entry);
    else {
      session.held.push(line);
      session.lines++;
      this.#add(entry, undefined);
    }
  }

  /** Writes what could not be written before. Throws the reason when it still cannot be. */
  retry(): void {
    const { unsaved } = this.session;
    if (unsaved.length > 0) this.#send([...unsaved], undefined);
  }

  /** Writes where the leaf is, if any reader of the file would find it elsewhere. */
  writeLeaf(): void {
    const { refusal, held, writtenLeaf, index } = this.session;
    if (refusal !== undefined || held !== undefined || writtenLeaf === index.leafId) return;
    this.#recordMove(index.leafId, "jump");
  }

  /** Moves the leaf to a place in the history of moves. */
  retrace(target: string | null, via: Retrace): void {
    const { index, writtenLeaf } = this.session;
    // A jump that no record tells of yet would not be there to be undone.
    if (writtenLeaf !== index.leafId) this.#recordMove(index.leafId, "jump");
    this.#recordMove(target, via);
  }

  /** Where nothing may be written, the moves last as long as the session is open. */
  #recordMove(target: string | null, via: LeafRecord["via"]): void {
    this.retry();
    const { session } = this;
    const id = newEntryId((candidate) => session.index.isTaken(candidate));
    const record: LeafRecord = { type: "leaf", id, parentId: target, timestamp: new Date().toISOString(), via };
    const line = sealedLine(record);
    if (session.held !== undefined) session.held.push(line);
    if (session.held !== undefined || session.refusal !== undefined) this.#addMove(record);
    else this.#sendMove(record, line);
  }

  #sendMove(record: LeafRecord, line: string): void {
    try {
      const { before, after } = this.#append([line]);
      this.#readIn(before);
      this.#addMove(record);
      this.#readIn(after);
    } catch (error) {
      if (!(error instanceof FileLost) || !this.#moveOut(error)) throw error;
      // The write that found the loss may have reached the lost file, and so the copy.
      if (this.session.index.isTaken(record.id)) this.session.index.moveLeaf(record.parentId);
      else this.#sendMove(record, line);
    }
  }

  #append(lines: readonly string[]): Appended {
    const { store } = this.session;
    store.append(...lines);
    return store.appended ?? { end: store.size() };
  }

  #addMove(record: LeafRecord): void {
    const { session } = this;
    session.lines++;
    session.index.replayLeaf(record, session.lines);
    session.writtenLeaf = record.parentId;
  }

  /** Makes all of the session a new file at `path`, which must not exist, and goes on in it. */
  moveTo(path: string): void {
    const { session } = this;
    writeNewFile(path, wholeSession(session));
    const next = openMade(path, session.lease);
    const leaf = session.index.leafId;
    if (leaf === null || next.index.has(leaf)) next.index.moveLeaf(leaf);
    if (session.lease !== next.lease) session.lease?.release();
    session.store.close();
    next.problems.unshift(...session.problems);
    this.session = next;
  }

  /** The same at the user's wish, who is told when that has saved something. */
  saveAs(path: string): void {
    const wasUnsaved = this.session.unsaved.length > 0;
    this.moveTo(path);
    if (wasUnsaved) this.listener?.({ type: "saved" });
  }

  /** Before the session is let go: what is unsaved goes to a recovery file, whose path is returned if there is one. */
  rescue(): string | undefined {
    return this.session.unsaved.length === 0 ? undefined : this.#recoveryFile();
  }

  /** `entry`: that of the last line, which is not in the tree yet. */
  #send(lines: string[], entry: SessionEntry | undefined): void {
    const { session } = this;
    const wasUnsaved = session.unsaved.length > 0;
    try {
      if (session.held !== undefined && session.dir !== undefined)
        session.lease ??= Lease.take(session.header.id, session.store.path ?? "");
      const { before, after, end } = this.#append(lines);
      const counted = session.held?.length ?? 0;
      session.held = undefined;
      session.unsaved = [];
      this.#readIn(before);
      session.lines += lines.length - counted;
      const length = Buffer.byteLength(lines.at(-1) ?? "");
      if (entry !== undefined) this.#add(entry, { line: session.lines, offset: end - 1 - length, length });
      this.#readIn(after);
    } catch (error) {
      if (!(error instanceof FileLost) || !this.#sendElsewhere(error, entry)) {
        this.#keep(lines, entry, error);
        return;
      }
    }
    if (wasUnsaved) this.listener?.({ type: "saved" });
  }

  /** The lines stay in memory if that is wanted; else the error is thrown and nothing has changed. */
  #keep(lines: string[], entry: SessionEntry | undefined, error: unknown): void {
    const { session } = this;
    const written = error instanceof WriteFailed ? error.linesWritten : 0;
    if (entry === undefined || !this.keepsUnsaved) {
      if (entry === undefined) session.unsaved = lines.slice(written);
      throw error;
    }
    session.lines += written - (session.held?.length ?? 0);
    session.held = undefined;
    session.unsaved = lines.slice(written);
    this.#add(entry, undefined);
    const reason = error instanceof Error ? error : new Error(String(error));
    this.listener?.({ type: "unsaved", error: reason, count: session.unsaved.length });
  }

  /** `origin`: where its line is, if it is in the store. */
  #add(entry: SessionEntry, origin: Origin | undefined): void {
    const { session } = this;
    session.index.append(entry, origin);
    const moves = kindOf(entry).movesLeaf === "always" || entry.parentId === session.writtenLeaf;
    session.writtenLeaf = moves ? entry.id : undefined;
  }

  /** Takes in what another program has written. The leaf stays, and the next flush writes where it is. */
  #readIn(range: ForeignBytes | undefined): void {
    if (range === undefined) return;
    const { index, store, problems } = this.session;
    const [own, size] = [index.leafId, index.size];
    const from = { line: this.session.lines, offset: range.offset };
    const { line } = takeAppended(index, store.read(range.offset, range.length), from, { checksum, wholeOnly: false });
    this.session.lines = line;
    this.session.writtenLeaf = undefined;
    index.moveLeaf(own);
    const entries = index.size - size;
    if (entries === 0 || this.#toldForeign) return;
    this.#toldForeign = true;
    const problem = foreignLines(store.path ?? "the session", entries);
    problems.push(problem);
    this.listener?.({ type: "foreign", entries, problem });
  }

  /** False when there is no place for the session: what is in memory is all there is. */
  #sendElsewhere(lost: FileLost, entry: SessionEntry | undefined): boolean {
    if (!this.#moveOut(lost)) return false;
    // The line that found the loss may be in the lost file, and so in the copy.
    if (entry !== undefined && !this.session.index.has(entry.id)) this.#send([sealedLine(entry)], entry);
    else if (entry !== undefined) this.session.index.moveLeaf(entry.id);
    return true;
  }

  #moveOut(lost: FileLost): boolean {
    const path = this.#recoveryFile();
    if (path === undefined) return false;
    const problem = movedOut(lost, path);
    this.session.problems.push(problem);
    this.listener?.({ type: "moved", path, problem });
    return true;
  }

  /** Beside the session's file, else in the state folder. Undefined when it can be made in neither. */
  #recoveryFile(): string | undefined {
    const { header, store } = this.session;
    const time = new Date().toISOString().replace(/[:.]/g, "-");
    const name = `${header.id.replace(/[^\w-]/g, "_")}.recovered-${time}.jsonl`;
    const folder = join(stateDir(), "recovered");
    for (const dir of [...(store.path === undefined ? [] : [dirname(store.path)]), folder]) {
      try {
        if (dir === folder) ensurePrivateDir(dir);
        this.moveTo(join(dir, name));
        return join(dir, name);
      } catch {
        // The next place; when there is none, the caller has the reason why this one was needed.
      }
    }
    return undefined;
  }
}
