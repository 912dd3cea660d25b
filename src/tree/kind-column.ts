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
  readonly #byName = new Map<string, number>();

  /** The number of a type and role, the same whenever asked. */
  code(type: string, role: string | undefined): number {
    // A type may hold any character; roles come first so that no two pairs look alike.
    const name = role === undefined ? `-${type}` : `${role.length}:${role}${type}`;
    let code = this.#byName.get(name);
    if (code === undefined) {
      code = this.#kinds.push({ type, role, movesLeaf: kindNamed(type).movesLeaf === "always" }) - 1;
      this.#byName.set(name, code);
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
