/**
 * `LAWS=reopen npm test`: each session's file is closed and opened anew after every append, so that nothing a session
 * needs is in its store alone. Loaded into every process of the run by scripts/test.mjs; laws.ts looks at each tree
 * before it grows further.
 */
import { statSync } from "node:fs";
import type { Stats } from "node:fs";
import { FileStore } from "../../src/session/file-store.ts";
import type { Appended } from "../../src/session/session-store.ts";

export type AppendWatcher = (path: string) => void;

const watchers = new Set<AppendWatcher>();

/**
 * Calls `watcher` with the path before each append to a file that is there as it was left, perhaps longer; nothing calls it
 * in a usual run.
 */
export function beforeAppends(watcher: AppendWatcher): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const { open, create } = FileStore;

/** In place of a FileStore: has all it has, and another FileStore after each append. */
class ReopeningStore {
  readonly path: string;
  #store: FileStore;
  /** The first that has written since the last flush: its sync is that of the whole file, and of its folder if it is new. */
  #unsynced: FileStore | undefined;
  #appended: Appended | undefined;
  #flushes: Promise<unknown> = Promise.resolve();
  /** The file as it was left. */
  #left: Stats | undefined;

  constructor(store: FileStore) {
    this.path = store.path;
    this.#store = store;
    this.#left = this.#look();
  }

  #look(): Stats | undefined {
    return statSync(this.path, { throwIfNoEntry: false });
  }

  /** Whether nobody has replaced, cut or removed the file. */
  #isInPlace(): boolean {
    const [left, now] = [this.#left, this.#look()];
    return left !== undefined && now !== undefined && now.ino === left.ino && now.size >= left.size;
  }

  get refusal(): Error | undefined {
    return this.#store.refusal;
  }
  get appended(): Appended | undefined {
    return this.#appended;
  }
  size(): number {
    return this.#store.size();
  }
  read(offset: number, length: number, memory?: Uint8Array): Uint8Array {
    return this.#store.read(offset, length, memory);
  }
  haveRead(size: number): void {
    this.#store.haveRead(size);
  }

  append(...lines: string[]): void {
    if (this.#isInPlace()) for (const watcher of watchers) watcher(this.path);
    this.#store.append(...lines);
    this.#appended = this.#store.appended;
    this.#reopen();
    this.#left = this.#look();
  }

  #reopen(): void {
    const { end = 0, after } = this.#appended ?? {};
    let next: FileStore;
    try {
      next = open(this.path);
    } catch {
      // A test that lets opening fail means another one than this.
      return;
    }
    if (next.refusal !== undefined) return next.close();
    next.haveRead(after === undefined ? end : after.offset + after.length);
    if (this.#unsynced === undefined) this.#unsynced = this.#store;
    else this.#store.close();
    this.#store = next;
  }

  /** A sync that has failed goes on failing, as in one store. */
  async flush(): Promise<void> {
    const flushed = (this.#unsynced ?? this.#store).flush();
    this.#unsynced?.close();
    this.#unsynced = undefined;
    this.#flushes = Promise.all([this.#flushes, flushed]);
    await this.#flushes;
  }

  close(): void {
    this.#unsynced?.close();
    this.#store.close();
  }
}

const reopening = (store: FileStore): FileStore => new ReopeningStore(store) as unknown as FileStore;

if (process.env["LAWS"] === "reopen")
  Object.assign(FileStore, {
    create: (path: string) => reopening(create(path)),
    open: (path: string, options: { readOnly?: boolean } = {}) =>
      options.readOnly === true ? open(path, options) : reopening(open(path, options)),
  });
