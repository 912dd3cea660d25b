/**
 * `Redaction`: records as they may leave this machine, without secrets and, if wanted, without the user's home folder;
 * and the report of what was masked where.
 * Part of `export/`; made by export-session.ts. A record is masked whole: every text in it and every name of a member.
 */
import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import type { SessionEntry, SessionHeader } from "../tree/entries.ts";
import { fieldName, hasText, namedTextsIn, textsIn, withTexts } from "./record-texts.ts";
import { SecretMarks } from "./secret-marks.ts";
import { SecretScanner } from "./secret-scanner.ts";
import { SecretValues, literally } from "./secret-values.ts";
import type { SecretValue } from "./secret-values.ts";

/** What was masked at one place. */
export interface MaskedField {
  /** Undefined for the header. */
  entryId: string | undefined;
  /** `message.content[0].text` */
  field: string;
  kind: string;
  count: number;
}

/** Places that are named one by one; of the others only the number is kept. */
const NAMED_PLACES = 1000;

export class RedactionReport {
  /** How often each kind was masked. */
  readonly byKind = new Map<string, number>();
  /** The first places, in the order of the export. */
  readonly places: MaskedField[] = [];
  /** Places in all. */
  placeCount = 0;
  /** Secrets masked, all places together. */
  total = 0;

  add(entryId: string | undefined, field: string, kinds: readonly string[]): void {
    const counts = new Map<string, number>();
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [kind, count] of counts) {
      this.total += count;
      this.placeCount++;
      this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + count);
      if (this.places.length < NAMED_PLACES) this.places.push({ entryId, field, kind, count });
    }
  }
}

/** Members of an entry that hold an id: what is masked in one must still be the same in all. */
const ID_FIELDS: ReadonlySet<string> = new Set(["id", "parentId", "targetId", "fromId", "firstKeptEntryId"]);

export interface RedactionOptions {
  /** Undefined: nothing is looked for. */
  secrets: SecretValues | undefined;
  /** A folder shown as `~`. */
  home?: string | undefined;
}

export class Redaction {
  readonly report = new RedactionReport();
  readonly looksForSecrets: boolean;
  readonly #secrets: SecretValues;
  readonly #home: RegExp | undefined;
  /** Masked ids by what they were. */
  readonly #ids = new Map<string, string>();
  /** Entries that are in the report. */
  readonly #reported = new Set<string>();

  constructor({ secrets, home }: RedactionOptions) {
    this.looksForSecrets = secrets !== undefined;
    this.#secrets = secrets ?? new SecretValues();
    this.#home = home === undefined || home.length < 2 ? undefined : homePattern(home);
  }

  /** The entry without what must not be seen; the very same when there is nothing in it. Reported once for each id. */
  entry(entry: SessionEntry): SessionEntry {
    if (!this.#concerns(entry)) return entry;
    const id = this.id(entry.id);
    const isNew = !this.#reported.has(entry.id);
    this.#reported.add(entry.id);
    return this.#masked(entry, isNew ? (field, kinds) => this.report.add(id, field, kinds) : undefined);
  }

  /** The header likewise. Report it once. */
  header(header: SessionHeader): SessionHeader {
    if (!this.#concerns(header)) return header;
    return this.#masked(header, (field, kinds) => this.report.add(undefined, field, kinds));
  }

  /** Any record likewise, which is in the report already. */
  again<T extends object>(record: T): T {
    return this.#concerns(record) ? this.#masked(record) : record;
  }

  /** An id without a secret; the same for the same id, another one for another. */
  id(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    if (!this.#secrets.has(id) && this.#home?.test(id) !== true) return id;
    const masked = `redacted-${this.#ids.size + 1}`;
    this.#ids.set(id, masked);
    return masked;
  }

  /** Any other text; not in the report. */
  text(text: string): string {
    return this.#withoutHome(this.#secrets.mask(text));
  }

  #concerns(record: object): boolean {
    if (this.#secrets.size === 0 && this.#home === undefined) return false;
    return hasText(record, (text) => this.#secrets.has(text) || this.#home?.test(text) === true);
  }

  #masked<T extends object>(record: T, onMask?: (field: string, kinds: readonly string[]) => void): T {
    return withTexts(record, (text, path, isName) => {
      const isId = !isName && path.length === 1 && ID_FIELDS.has(String(path[0]));
      const kinds: string[] = [];
      const masked = this.#withoutHome(this.#secrets.mask(text, (kind) => kinds.push(kind)));
      if (kinds.length > 0) onMask?.(this.text(fieldName(path)), kinds);
      return isId ? this.id(text) : masked;
    });
  }

  #withoutHome(text: string): string {
    return this.#home === undefined ? text : text.replace(new RegExp(this.#home, "g"), "~");
  }
}

/** Not in the middle of a longer path or name. */
const homePattern = (home: string): RegExp => {
  const forms = new Set([home, JSON.stringify(home).slice(1, -1)]);
  return new RegExp(`(?<![\\w.~-])(?:${[...forms].map(literally).join("|")})(?![\\w.-])`);
};

/** A record whose secrets are looked for: its JSON, until the next one is asked for, and itself. */
export interface ScannedRecord {
  json: Uint8Array;
  read: () => object;
}

export const scannedRecord = (record: object): ScannedRecord => ({
  json: Buffer.from(JSON.stringify(record)),
  read: () => record,
});

/** Bytes of records that are looked at in a row. */
const SLICE = 1024 * 1024;

/**
 * All secrets in the records, those that are `known` included. A value that a rule knows by what stands before it is found
 * at its other places too.
 */
export async function findSecrets(
  records: Iterable<ScannedRecord>,
  known: readonly SecretValue[],
): Promise<SecretValues> {
  const secrets = new SecretValues();
  for (const secret of known) secrets.add(secret);
  const scanner = new SecretScanner((secret) => secrets.add(secret));
  const marks = new SecretMarks();
  let looked = 0;
  for (const { json, read } of records) {
    const texts = marks.standIn(json) ? scannedIn(read()) : [];
    for (const text of texts) await scanner.add(text);
    looked += json.length;
    if (looked < SLICE) continue;
    looked = 0;
    // Whoever waits on a screen or for a signal has a turn.
    await setImmediate();
  }
  await scanner.finish();
  return secrets;
}

/** What a rule looks at as one text: a value is a secret by the name that stands before it, in any field. */
function* scannedIn(record: object): Generator<string> {
  yield* textsIn(record);
  yield* namedTextsIn(record, (name) => SECRET_NAME.test(name));
}
const SECRET_NAME = /(?:key|token|secret|password)$/i;
