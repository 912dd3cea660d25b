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
import { LF } from "./copied-lines.ts";
import { Lease } from "./lease.ts";
import { ensurePrivateDir, stateDir } from "./locations.ts";
import { writeNewFile } from "./new-file.ts";
import { openMade } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import { sealedLine, checksum } from "./sealed-line.ts";
import { FileLost, WriteFailed, entriesLost, foreignLines, movedOut } from "./session-errors.ts";
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
    this.#write(entry, kindOf(entry).bookkeeping);
  }

  /** One step in the history of moves. Where nothing may be written, it lasts as long as the session is open. */
  retrace(target: string | null, via: Retrace): void {
    const { index } = this.session;
    // A jump that no record tells of yet would not be there to be undone.
    if (this.session.writtenLeaf !== index.leafId) this.#write(this.#leafRecord(index.leafId, "jump"), true);
    this.#write(this.#leafRecord(target, via), true);
  }

  #write(record: SessionEntry | LeafRecord, mayWait: boolean): void {
    const { session } = this;
    if (session.refusal !== undefined) return this.#add(record, undefined);
    const line = sealedLine(record);
    if (session.held === undefined) this.#send([...session.unsaved, line], record);
    else if (!mayWait) this.#send([...session.held, line], record);
    else {
      session.held.push(line);
      this.#add(record, undefined);
    }
  }

  #leafRecord(target: string | null, via: LeafRecord["via"]): LeafRecord {
    const id = newEntryId((candidate) => this.session.index.isTaken(candidate));
    return { type: "leaf", id, parentId: target, timestamp: new Date().toISOString(), via };
  }

  /** Writes what could not be written before. Throws the reason when it still cannot be. */
  retry(): void {
    const { unsaved } = this.session;
    if (unsaved.length > 0) this.#send([...unsaved], undefined);
  }

  /** Writes where the leaf is, if a reader of the file would find it elsewhere. */
  writeLeaf(): void {
    const { session } = this;
    const target = session.index.leafId;
    if (session.refusal !== undefined || session.held !== undefined || session.writtenLeaf === target) return;
    const record = this.#leafRecord(target, "jump");
    // A move need not be kept: the next call writes where the leaf is then.
    this.#send([sealedLine(record)], record, { keeps: false });
  }

  /**
   * Makes all of the session a new file at `path`, which must not exist, and goes on in it. Returns how many entries
   * could not be read any more and are lost.
   */
  #moveTo(path: string): number {
    const { session } = this;
    const { index } = session;
    writeNewFile(path, wholeSession(session));
    const next = openMade(path, session.lease);
    // Entries that another program has cut off are gone.
    const leaf = index.pathOrdinals(index.leafId).findLast((n) => next.index.has(index.idAt(n)));
    next.index.moveLeaf(leaf === undefined ? null : index.idAt(leaf));
    if (session.lease !== next.lease) session.lease?.release();
    session.store.close();
    next.problems.unshift(...session.problems);
    this.session = next;
    let lost = 0;
    for (let n = 0; n < index.size; n++) if (!next.index.has(index.idAt(n))) lost++;
    return lost;
  }

  /** The same at the user's wish, who is told when that has saved something. */
  saveAs(path: string): void {
    const wasUnsaved = this.session.unsaved.length > 0;
    const lost = this.#moveTo(path);
    if (lost > 0) this.#tellMoved(path, entriesLost(path, lost));
    if (wasUnsaved) this.listener?.({ type: "saved" });
  }

  /** Before the session is let go: what is unsaved goes to a recovery file, whose path is returned if there is one. */
  rescue(): string | undefined {
    return this.session.unsaved.length === 0 ? undefined : this.#recoveryFile()?.path;
  }

  /** `record`: that of the last line, which is not in the index yet. */
  #send(lines: string[], record: SessionEntry | LeafRecord | undefined, { keeps = this.keepsUnsaved } = {}): void {
    const { session } = this;
    const wasUnsaved = session.unsaved.length > 0;
    try {
      if (session.held !== undefined && session.dir !== undefined)
        session.lease ??= Lease.take(session.header.id, session.store.path ?? "");
      const { start, end, before, after } = this.#append(lines);
      session.held = undefined;
      session.unsaved = [];
      this.#readIn(before);
      const line = this.#linesBefore(start) + lines.length;
      session.counted = { line, offset: end };
      const length = lines.length === 1 ? end - start - 1 : Buffer.byteLength(lines.at(-1)!);
      if (record !== undefined) this.#add(record, { line, offset: end - 1 - length, length });
      this.#readIn(after);
    } catch (error) {
      if (!(error instanceof FileLost) || !this.#sendElsewhere(error, record, keeps)) {
        this.#keep(lines, record, error, keeps);
        return;
      }
    }
    if (wasUnsaved) this.listener?.({ type: "saved" });
  }

  #append(lines: readonly string[]): Appended {
    const { store } = this.session;
    store.append(...lines);
    if (store.appended !== undefined) return store.appended;
    const end = store.size();
    return { start: end - lines.reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0), end };
  }

  /** The lines stay in memory if that is wanted; else the error is thrown and nothing has changed. */
  #keep(lines: string[], record: SessionEntry | LeafRecord | undefined, error: unknown, keeps: boolean): void {
    const { session } = this;
    const written = error instanceof WriteFailed ? error.linesWritten : 0;
    if (record === undefined || !keeps) {
      session.unsaved = session.unsaved.slice(written);
      throw error;
    }
    session.held = undefined;
    session.unsaved = lines.slice(written);
    this.#add(record, undefined);
    const reason = error instanceof Error ? error : new Error(String(error));
    this.listener?.({ type: "unsaved", error: reason, count: session.unsaved.length });
  }

  /** Without an `origin` an entry stays in memory, also when its line is written later. */
  #add(record: SessionEntry | LeafRecord, origin: Origin | undefined): void {
    const { session } = this;
    if (record.type === "leaf") {
      session.index.replayLeaf(record, origin?.line ?? 0);
      session.writtenLeaf = record.parentId;
      return;
    }
    session.index.append(record, origin);
    const moves = kindOf(record).movesLeaf === "always" || record.parentId === session.writtenLeaf;
    session.writtenLeaf = moves ? record.id : undefined;
  }

  /** Takes in what another program has written. The leaf stays, and the next flush writes where it is. */
  #readIn(range: ForeignBytes | undefined): void {
    if (range === undefined) return;
    const { index, store, problems } = this.session;
    const [own, size] = [index.leafId, index.size];
    const from = { line: this.#linesBefore(range.offset), offset: range.offset };
    this.session.counted = takeAppended(index, store.read(range.offset, range.length), from, {
      checksum,
      wholeOnly: false,
    });
    this.session.writtenLeaf = undefined;
    index.moveLeaf(own);
    const entries = index.size - size;
    if (entries === 0 || this.#toldForeign) return;
    this.#toldForeign = true;
    const problem = foreignLines(store.path ?? "the session", entries);
    problems.push(problem);
    this.listener?.({ type: "foreign", entries, problem });
  }

  /** Newlines before a place that is not before the one up to which they are counted. */
  #linesBefore(offset: number): number {
    const { store, counted } = this.session;
    let { line } = counted;
    // As a rule nothing: a line that was written in part, or the newline that closes it.
    if (offset > counted.offset)
      for (const byte of store.read(counted.offset, offset - counted.offset)) if (byte === LF) line++;
    return line;
  }

  /** False when there is no place for the session: what is in memory is all there is. */
  #sendElsewhere(lost: FileLost, record: SessionEntry | LeafRecord | undefined, keeps: boolean): boolean {
    if (!this.#moveOut(lost)) return false;
    const { index } = this.session;
    if (record === undefined) return true;
    // The line that found the loss may be in the lost file, and so in the copy.
    if (index.isTaken(record.id)) {
      index.moveLeaf(record.type === "leaf" ? record.parentId : record.id);
      return true;
    }
    const isKnown = record.parentId === null || index.has(record.parentId);
    const moved = isKnown ? record : { ...record, parentId: index.leafId };
    this.#send([sealedLine(moved)], moved, { keeps });
    return true;
  }

  #moveOut(lost: FileLost): boolean {
    const made = this.#recoveryFile();
    if (made === undefined) return false;
    this.#tellMoved(made.path, movedOut(lost, made.path, made.lost));
    return true;
  }

  #tellMoved(path: string, problem: Problem): void {
    this.session.problems.push(problem);
    this.listener?.({ type: "moved", path, problem });
  }

  /** Beside the session's file, else in the state folder. Undefined when it can be made in neither. */
  #recoveryFile(): { path: string; lost: number } | undefined {
    const { header, store } = this.session;
    const time = new Date().toISOString().replace(/[:.]/g, "-");
    const name = `${header.id.replace(/[^\w-]/g, "_")}.recovered-${time}.jsonl`;
    const folder = join(stateDir(), "recovered");
    for (const dir of [...(store.path === undefined ? [] : [dirname(store.path)]), folder]) {
      try {
        if (dir === folder) ensurePrivateDir(dir);
        const path = join(dir, name);
        return { path, lost: this.#moveTo(path) };
      } catch {
        // The next place; when there is none, the caller has the reason why this one was needed.
      }
    }
    return undefined;
  }
}
