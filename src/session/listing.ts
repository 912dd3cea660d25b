/**
 * `Listing`: the session files of some folders as the rows of a list. A row comes from the cache or from a glance at the
 * file, and is completed by reading the whole file where somebody needs that.
 * Part of `session/`; used by the catalog.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ListCache, fileKnown, stateOf } from "./list-cache.ts";
import type { FileState, KnownFile } from "./list-cache.ts";
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

/** Files looked at before others get their turn, … */
const LOOKS_PER_TURN = 64;
/** … and how many are known for the price of one. */
const KNOWN_PER_LOOK = 16;

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

  /** One row for each file, in no order, some at a time: before anything takes long, those that are known. */
  async *rows(): AsyncGenerator<readonly ListRow[]> {
    let rows: ListRow[] = [];
    let looks = 0;
    for (const dir of this.#dirs) {
      const cache = new ListCache(dir);
      this.#caches.push(cache);
      for (const path of sessionFilesIn(dir)) {
        const state = stateOf(path);
        if (state === undefined) continue;
        let file = cache.find(path, state);
        looks += file === undefined ? 1 : 1 / KNOWN_PER_LOOK;
        file ??= glanced(cache, path, state);
        if (file === undefined) {
          yield rows;
          rows = [];
          file = await summarised(cache, path, state);
        }
        rows.push({ session: this.#told(file), state: file.state, cache });
        if (looks < LOOKS_PER_TURN) continue;
        yield rows;
        rows = [];
        looks = 0;
        await setImmediate();
      }
    }
    this.#isWhole = true;
    yield rows;
  }

  /** Reads all of the file, if that has not been done. */
  async complete(row: ListRow): Promise<void> {
    if (row.session.isComplete) return;
    row.session = this.#told(await summarised(row.cache, row.session.path, row.state));
  }

  /** Keeps what was learned for the next list. */
  close(): void {
    for (const cache of this.#caches) cache.save(this.#isWhole);
  }

  #told({ path, summary }: KnownFile): SessionInfo {
    const { cwd } = summary;
    let isPresent = cwd === "" || this.#present.get(cwd);
    if (isPresent === undefined) this.#present.set(cwd, (isPresent = fs.existsSync(cwd)));
    return { ...summary, path, isExample: path.startsWith(this.#examples), cwdMissing: !isPresent };
  }
}

function glanced(cache: ListCache, path: string, state: FileState): KnownFile | undefined {
  const summary = glance(path, state.size);
  return summary && kept(cache, fileKnown(path, state, summary));
}

async function summarised(cache: ListCache, path: string, state: FileState): Promise<KnownFile> {
  return kept(cache, fileKnown(path, state, await summarise(path)));
}

/** A file that could not be read says nothing about the next time. */
function kept(cache: ListCache, file: KnownFile): KnownFile {
  if (file.summary.kind !== "damaged" || file.summary.size > 0) cache.put(file);
  return file;
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
