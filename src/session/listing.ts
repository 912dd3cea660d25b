/**
 * `Listing`: the session files of some folders as the rows of a list. A row comes from the cache or from a glance at the
 * file, and is completed by reading the whole file where somebody needs that.
 * Part of `session/`; used by the catalog.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ListCache, stateOf } from "./list-cache.ts";
import type { FileState } from "./list-cache.ts";
import { examplesDir } from "./locations.ts";
import { glance, summarise } from "./session-summary.ts";
import type { SessionSummary } from "./session-scan.ts";

export interface SessionInfo extends SessionSummary {
  path: string;
  /** One of the sessions that come with bough. */
  isExample: boolean;
  /** The recorded working directory is gone. */
  cwdMissing: boolean;
}

export interface ListRow {
  session: SessionInfo;
  /** Of the file when the row was begun. */
  readonly state: FileState;
  readonly cache: ListCache;
}

/** Rows before others get their turn. */
const ROWS_PER_TURN = 64;

export class Listing {
  readonly #dirs: readonly string[];
  readonly #examples = join(examplesDir(), "/");
  /** By path, whether a recorded working directory is there. */
  readonly #present = new Map<string, boolean>();
  readonly #caches: ListCache[] = [];
  #isWhole = false;

  constructor(dirs: readonly string[]) {
    this.#dirs = dirs;
  }

  /** One row for each file, as soon as it is known, in no order. */
  async *rows(): AsyncGenerator<ListRow> {
    let count = 0;
    for (const dir of this.#dirs) {
      const cache = new ListCache(dir);
      this.#caches.push(cache);
      for (const path of sessionFilesIn(dir)) {
        const state = stateOf(path);
        if (state === undefined) continue;
        const summary = cache.find(path, state) ?? (await this.#lookAt(path, state, cache));
        yield { session: this.#told(path, summary), state, cache };
        if (++count % ROWS_PER_TURN === 0) await setImmediate();
      }
    }
    this.#isWhole = true;
  }

  async #lookAt(path: string, state: FileState, cache: ListCache): Promise<SessionSummary> {
    const summary = glance(path, state.size) ?? (await summarise(path));
    keep(cache, path, state, summary);
    return summary;
  }

  /** Reads all of the file, if that has not been done. */
  async complete(row: ListRow): Promise<void> {
    if (row.session.isComplete) return;
    const { path } = row.session;
    const summary = await summarise(path);
    keep(row.cache, path, row.state, summary);
    row.session = this.#told(path, summary);
  }

  /** Keeps what was learned for the next list. */
  close(): void {
    for (const cache of this.#caches) cache.save(this.#isWhole);
  }

  #told(path: string, summary: SessionSummary): SessionInfo {
    const { cwd } = summary;
    let isPresent = cwd === "" || this.#present.get(cwd);
    if (isPresent === undefined) this.#present.set(cwd, (isPresent = fs.existsSync(cwd)));
    return { ...summary, path, isExample: path.startsWith(this.#examples), cwdMissing: !isPresent };
  }
}

/** A file that could not be read says nothing about the next time. */
function keep(cache: ListCache, path: string, state: FileState, summary: SessionSummary): void {
  if (summary.kind !== "damaged" || summary.size > 0) cache.put(path, state, summary);
}

/** Regular files only: a link could lead anywhere. */
export function sessionFilesIn(dir: string): string[] {
  const start = join(dir, "/");
  return entriesOf(dir)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => start + entry.name);
}

/** A folder that cannot be read holds nothing for us. */
export function entriesOf(dir: string): fs.Dirent[] {
  try {
    return fs.readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}
