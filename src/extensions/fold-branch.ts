/**
 * `foldBranch`: state of an extension that follows the leaf. What an extension remembers lies in entries; a jump, a
 * branch or a resume has other entries on its path, so the state is made from the path and never kept beside it.
 * Part of `extensions/`; extensions import it from bough.
 */
import type { SessionEntry } from "../tree/entries.ts";
import type { ExtensionContext } from "./api.ts";

type Session = Pick<ExtensionContext["sessionManager"], "getBranch" | "getEntry" | "getLeafId" | "getSessionId">;

/**
 * Gives a function from a context to the state at its leaf: `step` over the entries from the root to the leaf, beginning
 * with `initial()`. Entries that were appended since the last call are folded in alone; after a jump the whole path is.
 * `step` may change the state it is given and return it.
 *
 * ```ts
 * const todos = foldBranch<string[]>(() => [], (list, entry) =>
 *   entry.type === "custom" && entry.customType === "todo" ? [...list, String(entry.data)] : list);
 * pi.registerCommand("todos", { handler: async (_args, ctx) => ctx.ui.notify(todos(ctx).join(", ")) });
 * ```
 */
export function foldBranch<State>(
  initial: () => State,
  step: (state: State, entry: SessionEntry) => State,
): (ctx: { sessionManager: Session }) => State {
  let folded: { sessionId: string; leafId: string | null; state: State } | undefined;
  return ({ sessionManager }) => {
    const sessionId = sessionManager.getSessionId();
    const leafId = sessionManager.getLeafId();
    const last = folded?.sessionId === sessionId ? folded : undefined;
    if (last?.leafId === leafId) return last.state;
    const added = last === undefined ? undefined : entriesSince(sessionManager, last.leafId);
    // A step that throws half-way leaves nothing to go on from.
    folded = undefined;
    const state =
      last === undefined || added === undefined
        ? sessionManager.getBranch().reduce(step, initial())
        : added.reduce(step, last.state);
    folded = { sessionId, leafId, state };
    return state;
  };
}

/** The entries of the path behind `ancestorId`, oldest first; undefined when that is not on the path. */
function entriesSince(session: Session, ancestorId: string | null): SessionEntry[] | undefined {
  const entries: SessionEntry[] = [];
  for (let id = session.getLeafId(); id !== ancestorId;) {
    const entry = id === null ? undefined : session.getEntry(id);
    if (entry === undefined) return undefined;
    entries.push(entry);
    id = entry.parentId;
  }
  return entries.reverse();
}
