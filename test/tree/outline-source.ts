/**
 * Sessions for the outline's tests, as short text or as entries, with a counter of the bodies that were asked for.
 */
import type { SessionEntry } from "../../src/tree/entries.ts";
import { SessionEntryIndex } from "../../src/tree/entry-index.ts";

/** A record of a session file, whose fields may be wrong in every way but `id` and `parentId`. */
export interface LooseEntry {
  type?: string;
  id: string;
  parentId: string | null;
  [field: string]: unknown;
}

/** An index that counts the bodies it has handed out and the parents it has named. */
export class CountedIndex extends SessionEntryIndex {
  bodies = 0;
  parents = 0;

  constructor(entries: readonly LooseEntry[] = [], leafId?: string | null) {
    super();
    for (const entry of entries) this.add(entry);
    if (leafId !== undefined) this.moveLeaf(leafId);
  }
  add(entry: LooseEntry): void {
    const whole = { type: "message", timestamp: "2026-01-01T00:00:00.000Z", ...entry };
    this.append(whole as unknown as SessionEntry);
  }
  override at(n: number): SessionEntry {
    this.bodies++;
    return super.at(n);
  }
  override parentOrdinal(n: number): number {
    this.parents++;
    return super.parentOrdinal(n);
  }
  /** The number of bodies handed out while `act` runs. */
  bodiesFor(act: () => void): number {
    const before = this.bodies;
    act();
    return this.bodies - before;
  }
}

/**
 * A session from a sketch: names in a row continue each other, `(…)` is a branch that goes back to where it opened.
 * Names that begin with `a` are answers, with `t` tool results, all others prompts; each says its own name.
 */
export function sketch(text: string, leafId?: string | null): CountedIndex {
  const source = new CountedIndex();
  const openings: (string | null)[] = [];
  let parentId: string | null = null;
  for (const [token] of text.matchAll(/[()]|[^\s()]+/g)) {
    if (token === "(") openings.push(parentId);
    else if (token === ")") parentId = openings.pop()!;
    else {
      source.add({ id: token, parentId, message: sketchedMessage(token) });
      parentId = token;
    }
  }
  if (leafId !== undefined) source.moveLeaf(leafId);
  return source;
}

function sketchedMessage(name: string): object {
  const content = [{ type: "text", text: name }];
  if (name.startsWith("a")) return { role: "assistant", content, stopReason: "stop" };
  if (name.startsWith("t")) return { role: "toolResult", toolCallId: "absent", toolName: name, content };
  return { role: "user", content: name };
}
