/**
 * `FolderStore`: a session as a folder of numbered files, one for each append: a store that somebody else might write.
 * The stores below it each have one fault that the conformance kit must find.
 */
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFolder } from "../../src/session/new-file.ts";
import type { SessionStore } from "../../src/session/session-store.ts";

export class FolderStore implements SessionStore {
  readonly path = undefined;
  readonly folder: string;
  readonly refusal: Error | undefined;
  protected files: string[] = [];
  protected bytes: Uint8Array = new Uint8Array(0);
  /** Times that new files were found. */
  protected finds = 0;
  #closed = false;
  #stopFollowing: () => void = () => undefined;

  /** One that is for reading alone can follow others. */
  constructor(folder: string, forReading = false) {
    this.folder = folder;
    this.refusal = forReading ? new Error(`The store in ${folder} is open for reading`) : undefined;
    mkdirSync(folder, { recursive: true });
    this.readOn();
  }

  /** Takes in the files that are new; false when there are none. */
  protected readOn(): boolean {
    const files = readdirSync(this.folder).filter((name) => name.endsWith(".lines"));
    const added = files.sort().slice(this.files.length);
    if (added.length > 0) this.finds++;
    this.files.push(...added);
    this.bytes = Buffer.concat([this.bytes, ...added.map((name) => readFileSync(join(this.folder, name)))]);
    return added.length > 0;
  }

  follow(changed: () => void): () => void {
    const timer = setInterval(() => this.readOn() && changed(), 2);
    return (this.#stopFollowing = () => clearInterval(timer));
  }

  size(): number {
    return this.bytes.length;
  }

  read(offset: number, length: number): Uint8Array {
    return this.bytes.subarray(offset, offset + length);
  }

  append(...lines: string[]): void {
    if (this.#closed) throw new Error(`The store in ${this.folder} is closed`);
    this.keep(Buffer.from(lines.map((line) => `${line}\n`).join("")));
  }

  protected keep(added: Uint8Array): void {
    const name = `${String(this.files.length).padStart(9, "0")}.lines`;
    // Whole or not there, for those who follow.
    const path = join(this.folder, name);
    writeFileSync(`${path}.new`, added, { flag: "wx" });
    renameSync(`${path}.new`, path);
    this.files.push(name);
    this.bytes = Buffer.concat([this.bytes, added]);
  }

  async flush(): Promise<void> {
    syncFolder(this.folder);
  }

  close(): void {
    this.#closed = true;
    this.#stopFollowing();
  }
}

/** Writes lines in blocks, each a line of its own. */
class SplittingStore extends FolderStore {
  override append(...lines: string[]): void {
    super.append(...lines.flatMap((line) => line.match(/.{1,65536}/gsu) ?? [""]));
  }
}

/** Keeps the last append for itself until another one comes. */
class LosingStore extends FolderStore {
  #waiting: Uint8Array | undefined;
  protected override keep(added: Uint8Array): void {
    if (this.#waiting !== undefined) super.keep(this.#waiting);
    this.#waiting = added;
  }
  override size(): number {
    return super.size() + (this.#waiting?.length ?? 0);
  }
  override read(offset: number, length: number): Uint8Array {
    return Buffer.concat([this.bytes, this.#waiting ?? new Uint8Array(0)]).subarray(offset, offset + length);
  }
}

/** Names its files so that the tenth comes back before the second. */
class ReorderingStore extends FolderStore {
  protected override keep(added: Uint8Array): void {
    super.keep(added);
    const last = this.files.length - 1;
    const name = `${last === 0 ? 0 : 900 - last}.lines`;
    renameSync(join(this.folder, this.files[last]!), join(this.folder, name));
    this.files[last] = name;
  }
}

/** Puts what came last first within one append. */
class ReversingStore extends FolderStore {
  override append(...lines: string[]): void {
    super.append(...lines.toReversed());
  }
}

/** Takes one byte for one character. */
class LatinStore extends FolderStore {
  protected override keep(added: Uint8Array): void {
    super.keep(Buffer.from(Buffer.from(added).toString("utf8"), "latin1"));
  }
}

/** Hands out one buffer again and again. */
class SharingStore extends FolderStore {
  readonly #shared = Buffer.alloc(16_000_000);
  override read(offset: number, length: number): Uint8Array {
    const bytes = super.read(offset, length);
    this.#shared.set(bytes);
    return this.#shared.subarray(0, bytes.length);
  }
}

/** Reads past its end. */
class PaddingStore extends FolderStore {
  override read(offset: number, length: number): Uint8Array {
    return Buffer.concat([super.read(offset, length), Buffer.alloc(length)], length);
  }
}

/** Hands back all of the memory it was given, however little it put there. */
class OverfillingStore extends FolderStore {
  override read(offset: number, length: number, memory?: Uint8Array): Uint8Array {
    const bytes = super.read(offset, length);
    memory?.set(bytes);
    return memory ?? bytes;
  }
}

/** Never closes. */
class OpenStore extends FolderStore {
  override close(): void {}
}

/** Ends every append with a blank too many. */
class LooseStore extends FolderStore {
  override append(...lines: string[]): void {
    super.append(...lines.map((line) => `${line} `));
  }
}

/** Never says that there is something new. */
class SilentStore extends FolderStore {
  override follow(): () => void {
    return () => undefined;
  }
}

/** Reads the latest file a second time when there is something new. */
class StutteringStore extends FolderStore {
  protected override readOn(): boolean {
    const isFirst = this.files.length === 0;
    const before = this.bytes.length;
    const found = super.readOn();
    if (found && !isFirst) this.bytes = Buffer.concat([this.bytes, this.bytes.subarray(before)]);
    return found;
  }
}

/** Leaves out the third of the things that were new. */
class SkippingStore extends FolderStore {
  protected override readOn(): boolean {
    const before = this.bytes;
    const found = super.readOn();
    if (found && this.finds === 3) this.bytes = before;
    return found;
  }
}

/** Reads the end of a line before its start. */
class TearingStore extends FolderStore {
  protected override readOn(): boolean {
    const before = this.bytes.length;
    const found = super.readOn();
    if (found && this.finds === 3) {
      const [old, added] = [this.bytes.subarray(0, before), this.bytes.subarray(before)];
      const half = added.length >> 1;
      this.bytes = Buffer.concat([old, added.subarray(half), added.subarray(0, half)]);
    }
    return found;
  }
}

/** Follows on when it has been told to stop. */
class ClingingStore extends FolderStore {
  override follow(changed: () => void): () => void {
    super.follow(changed);
    return () => undefined;
  }
}

export const FAULTY_STORES = {
  SplittingStore,
  LosingStore,
  ReorderingStore,
  ReversingStore,
  LatinStore,
  SharingStore,
  PaddingStore,
  OverfillingStore,
  OpenStore,
  LooseStore,
  SilentStore,
  StutteringStore,
  SkippingStore,
  TearingStore,
  ClingingStore,
} satisfies Record<string, new (folder: string, forReading?: boolean) => FolderStore>;
