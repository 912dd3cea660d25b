/**
 * A disk that remembers: what was written to one file, what was synced when, and every state in which a power cut could
 * have left it. For machines on which no real power can be cut.
 */
import type { DiskWatcher } from "./disk-calls.ts";

export interface CrashState {
  name: string;
  /** Undefined: no file of that name. */
  bytes: Buffer | undefined;
  /** Whether nothing is missing but a part of the end. */
  onlyEndMissing: boolean;
}

/** Watches one file that is appended to, and the folder it is in. */
export class RecordedDisk {
  #written = Buffer.alloc(0);
  /** Bytes that were written when a sync began which has ended. */
  #synced = 0;
  readonly #syncing: number[] = [];
  #nameSynced = false;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get watcher(): DiskWatcher {
    return {
      before: (call) => {
        if (call.name === "fdatasync") this.#syncing.push(this.#written.length);
      },
      after: (call, count) => {
        if (call.name === "write") this.#written = Buffer.concat([this.#written, call.bytes!.subarray(0, count)]);
        else if (call.name === "fdatasync") this.#synced = Math.max(this.#synced, this.#syncing.shift()!);
        else if (call.name === "fsync" && call.path === this.#folder) this.#nameSynced = true;
      },
    };
  }

  /** What may be on the disk if the power fails now. */
  states(): CrashState[] {
    const written = this.#written;
    const safe = written.subarray(0, this.#synced);
    const rest = written.subarray(this.#synced);
    const middle = Math.floor(rest.length / 2);
    const states: CrashState[] = [
      { name: "nothing after the last sync", bytes: safe, onlyEndMissing: true },
      { name: "half of what came after", bytes: written.subarray(0, safe.length + middle), onlyEndMissing: true },
      { name: "all of it", bytes: written, onlyEndMissing: true },
      { name: "its length, and zeros", bytes: joined(safe, zeros(rest.length)), onlyEndMissing: true },
      {
        name: "half of it, then zeros",
        bytes: joined(safe, rest.subarray(0, middle), zeros(rest.length - middle)),
        onlyEndMissing: true,
      },
      {
        name: "zeros, then the rest",
        bytes: joined(safe, zeros(middle), rest.subarray(middle)),
        onlyEndMissing: false,
      },
    ];
    if (!this.#nameSynced) states.push({ name: "no file", bytes: undefined, onlyEndMissing: true });
    return states;
  }
}

const zeros = (length: number): Buffer => Buffer.alloc(length);
const joined = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);
