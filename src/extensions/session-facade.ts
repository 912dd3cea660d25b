/**
 * `ReadonlySession`: the session as extensions may read it, as `ctx.sessionManager`. Nothing of it leads to what writes,
 * and what it gives are copies: an extension that changes an entry changes its copy.
 * Part of `extensions/`; the contexts hold one for all extensions.
 */
import { dirname } from "node:path";
import type { SessionEntry, SessionHeader, SessionTreeNode } from "../tree/entries.ts";
import { contextOfPath } from "../tree/session-context.ts";
import type { SessionContext } from "../tree/session-context.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { copyOf, lazyCopy } from "./copy-of.ts";

export class ReadonlySession {
  readonly #session: SessionManager;
  /** Entries never change, so one copy is enough; what an extension does to it only extensions see. */
  readonly #copies = new WeakMap<SessionEntry, SessionEntry>();

  constructor(session: SessionManager) {
    this.#session = session;
    Object.freeze(this);
  }

  getSessionId(): string {
    return this.#session.getSessionId();
  }
  getCwd(): string {
    return this.#session.getCwd();
  }
  /** undefined in memory. */
  getSessionFile(): string | undefined {
    return this.#session.getSessionFile();
  }
  /** The folder of its file; "" in memory. */
  getSessionDir(): string {
    const file = this.#session.getSessionFile();
    return file === undefined ? "" : dirname(file);
  }
  getSessionName(): string | undefined {
    return this.#session.getSessionName();
  }
  getHeader(): SessionHeader {
    return copyOf(this.#session.getHeader());
  }
  getLeafId(): string | null {
    return this.#session.getLeafId();
  }
  getLeafEntry(): SessionEntry | undefined {
    return this.#optional(this.#session.getLeafEntry());
  }
  getEntry(id: string): SessionEntry | undefined {
    return this.#optional(this.#session.getEntry(id));
  }
  /** All branches, in the order of the file. */
  getEntries(): SessionEntry[] {
    return this.#all(this.#session.getEntries());
  }
  getChildren(parentId: string | null): SessionEntry[] {
    return this.#all(this.#session.getChildren(parentId));
  }
  /** From the root to an entry; by default to the leaf. */
  getBranch(fromId?: string | null): SessionEntry[] {
    return this.#all(this.#session.getBranch(fromId));
  }
  getTree(): SessionTreeNode[] {
    const roots = this.#session.getTree();
    const pending = [...roots];
    // The nodes are made for the caller; their entries are not.
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      node.entry = this.#copy(node.entry);
      pending.push(...node.children);
    }
    return roots;
  }
  getLabel(id: string): string | undefined {
    return this.#session.getLabel(id);
  }
  /** What the model would be sent at an entry, by default the leaf. */
  buildSessionContext(leafId?: string | null): SessionContext {
    return contextOfPath(this.getBranch(leafId));
  }

  #optional(entry: SessionEntry | undefined): SessionEntry | undefined {
    return entry === undefined ? undefined : this.#copy(entry);
  }
  #all(entries: readonly SessionEntry[]): SessionEntry[] {
    return entries.map((entry) => this.#copy(entry));
  }
  #copy(entry: SessionEntry): SessionEntry {
    let copy = this.#copies.get(entry);
    if (copy === undefined) this.#copies.set(entry, (copy = lazyCopy(entry)));
    return copy;
  }
}
