/**
 * `KindColumn`: the type of each entry and, of messages, the role, as one number an entry.
 * Part of `tree/`: pure. Used by the index.
 */
import { kindNamed } from "./kinds.ts";
import { NumberColumn } from "./number-column.ts";

interface Kind {
  type: string;
  role: string | undefined;
  movesLeaf: boolean;
}

export class KindColumn {
  readonly #codes = NumberColumn.ofInt32();
  readonly #kinds: Kind[] = [];
  readonly #byType = new Map<string, Map<string | undefined, number>>();

  /** The number of a type and role, the same whenever asked. */
  code(type: string, role: string | undefined): number {
    let byRole = this.#byType.get(type);
    if (byRole === undefined) this.#byType.set(type, (byRole = new Map()));
    let code = byRole.get(role);
    if (code === undefined) {
      code = this.#kinds.push({ type, role, movesLeaf: kindNamed(type).movesLeaf === "always" }) - 1;
      byRole.set(role, code);
    }
    return code;
  }

  push(code: number): void {
    this.#codes.push(code);
  }
  type(n: number): string {
    return this.#kinds[this.#codes.at(n)]!.type;
  }
  /** Whether the leaf follows it wherever it stands. */
  movesLeaf(n: number): boolean {
    return this.#kinds[this.#codes.at(n)]!.movesLeaf;
  }
  role(n: number): string | undefined {
    return this.#kinds[this.#codes.at(n)]!.role;
  }
}
