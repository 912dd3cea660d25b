/**
 * `BranchWriter`: appends what one run or command produces to the branch it belongs to, wherever the leaf is by then.
 * Part of `agent/`; used by AgentRun and AgentSession.
 */
import type { SessionManager, StorableMessage } from "../session/session-manager.ts";

export class BranchWriter {
  readonly #manager: SessionManager;
  readonly #sessionId: string;
  #tail: string | null;
  #released = false;

  /** Begins at the current leaf. */
  constructor(manager: SessionManager) {
    this.#manager = manager;
    this.#sessionId = manager.getSessionId();
    this.#tail = manager.getLeafId();
  }

  /** The last entry of the branch: the leaf, unless somebody has moved it away. */
  get tail(): string | null {
    return this.holdsLeaf ? this.#manager.getLeafId() : this.#tail;
  }

  /** Whether the leaf is on this branch: what is appended then goes on from it and moves it. */
  get holdsLeaf(): boolean {
    const leaf = this.#manager.getLeafId();
    return leaf === this.#tail || (!this.#released && this.#continues());
  }

  /** From now on the leaf goes on without this branch: what comes late becomes a sibling of what follows. */
  release(): void {
    this.#released = true;
  }

  /** Appends and returns the entry's id; undefined when the session has been left and the message has no place. */
  append(message: StorableMessage): string | undefined {
    return this.write((manager) => manager.appendMessage(message));
  }

  /** Like `append`, for what `append` appends to the manager's leaf; it returns the id. */
  write(append: (manager: SessionManager) => string): string | undefined {
    const manager = this.#manager;
    if (manager.getSessionId() !== this.#sessionId) return undefined;
    const leaf = manager.getLeafId();
    const elsewhere = !this.holdsLeaf;
    if (elsewhere) moveLeaf(manager, this.#tail);
    try {
      this.#tail = append(manager);
    } finally {
      if (elsewhere) moveLeaf(manager, leaf);
    }
    return this.#tail;
  }

  /** Whether the leaf's path leads through the tail, as after a label or a user's command in between. */
  #continues(): boolean {
    if (this.#tail === null) return true;
    const index = this.#manager.getIndex();
    const tail = index.ordinal(this.#tail);
    let n = index.leafOrdinal;
    while (n >= 0 && n !== tail) n = index.parentOrdinal(n);
    return n >= 0;
  }
}

/** Puts the leaf on an entry, or before the first one. */
export function moveLeaf(manager: SessionManager, id: string | null): void {
  if (id === null) manager.resetLeaf();
  else manager.branch(id);
}
