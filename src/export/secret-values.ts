/**
 * `SecretValues`: the texts that must not be in an export, and the replacing of them.
 * Part of `export/`; filled by the scanner and by what the caller knows, used by Redaction.
 */

/** A text that must not leave this machine, and in a few words what it is. */
export interface SecretValue {
  value: string;
  kind: string;
}

/** A part of a text that is masked: two secrets that overlap are one. */
interface Span {
  start: number;
  end: number;
  kind: string;
}

/** Shorter ones would mask half of every text. Characters. */
const SHORTEST = 4;
/** Values that begin alike are tried only where that beginning stands. Characters. */
const PREFIX = 4;
/** Limits of one expression; V8 refuses very large ones. */
const VALUES_PER_PATTERN = 500;
const LENGTH_PER_PATTERN = 200_000;

export class SecretValues {
  readonly #kinds = new Map<string, string>();
  #patterns: RegExp[] | undefined;

  get size(): number {
    return this.#kinds.size;
  }

  /** Also found as it stands inside a JSON text and inside a URL. The first kind given for a value stays. */
  add({ value, kind }: SecretValue): void {
    for (const form of [value, JSON.stringify(value).slice(1, -1), inUrl(value)])
      if (form.length >= SHORTEST && !this.#kinds.has(form)) {
        this.#kinds.set(form, kind);
        this.#patterns = undefined;
      }
  }

  has(text: string): boolean {
    return this.#compiled().some((pattern) => {
      pattern.lastIndex = 0;
      return pattern.test(text);
    });
  }

  /** The text with each secret as `[redacted: kind]`; `onMask` is told of each. */
  mask(text: string, onMask: (kind: string) => void = () => undefined): string {
    const spans = this.#spansIn(text);
    if (spans.length === 0) return text;
    let masked = "";
    let done = 0;
    for (const { start, end, kind } of spans) {
      masked += `${text.slice(done, start)}[redacted: ${kind}]`;
      done = end;
      onMask(kind);
    }
    return (masked + text.slice(done)).toWellFormed();
  }

  #spansIn(text: string): Span[] {
    const found: Span[] = [];
    for (const pattern of this.#compiled()) {
      pattern.lastIndex = 0;
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        const [value] = match;
        found.push({ start: match.index, end: match.index + value.length, kind: this.#kinds.get(value) ?? "secret" });
        // Another one may begin within this one and end behind it.
        pattern.lastIndex = match.index + 1;
      }
    }
    return joined(found.sort((a, b) => a.start - b.start || b.end - a.end));
  }

  #compiled(): RegExp[] {
    return (this.#patterns ??= patternsFor([...this.#kinds.keys()]));
  }
}

function joined(sorted: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const span of sorted) {
    const last = spans.at(-1);
    if (last === undefined || span.start >= last.end) spans.push({ ...span });
    else last.end = Math.max(last.end, span.end);
  }
  return spans;
}

function patternsFor(values: readonly string[]): RegExp[] {
  // Of two that begin at one place the longer one counts; neighbours in this order begin alike.
  const sorted = values.toSorted((a, b) => compare(a.slice(0, PREFIX), b.slice(0, PREFIX)) || b.length - a.length);
  const patterns: RegExp[] = [];
  for (let next = 0; next < sorted.length;) {
    const first = next;
    let length = 0;
    while (next < sorted.length && next - first < VALUES_PER_PATTERN && length < LENGTH_PER_PATTERN)
      length += sorted[next++]!.length;
    patterns.push(new RegExp(sourceFor(sorted.slice(first, next)), "g"));
  }
  return patterns;
}

function sourceFor(sorted: readonly string[]): string {
  const rests = new Map<string, string[]>();
  for (const value of sorted) {
    const prefix = value.slice(0, PREFIX);
    const others = rests.get(prefix) ?? [];
    rests.set(prefix, others);
    others.push(literally(value.slice(PREFIX)));
  }
  return [...rests].map(([prefix, others]) => `${literally(prefix)}(?:${others.join("|")})`).join("|");
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The text as an expression that matches it alone. */
export const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Halves of surrogate pairs cannot stand in a URL. */
const inUrl = (value: string): string => encodeURIComponent(value.toWellFormed());
