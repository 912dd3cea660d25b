/**
 * All texts in a record of any shape: walking through them, and replacing them.
 * Part of `export/`; used by redaction. Nothing here is recursive.
 */
import { isRecord } from "../tree/json.ts";

/** Where a text stands: the names of members and the numbers of list items from the record on. */
export type FieldPath = readonly (string | number)[];

/** Every text in the record: values, and the names of members. The base64 of images is passed over. */
export function textsIn(record: unknown): string[] {
  const texts: string[] = [];
  hasText(record, (text) => {
    texts.push(text);
    return false;
  });
  return texts;
}

/** Whether one of those texts is wanted; the rest is not asked about then. */
export function hasText(record: unknown, isWanted: (text: string) => boolean): boolean {
  const waiting: unknown[] = [record];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") {
      if (isWanted(value)) return true;
    } else if (Array.isArray(value)) for (let n = value.length - 1; n >= 0; n--) waiting.push(value[n]);
    else if (isRecord(value)) {
      const isPicture = isImage(value);
      for (const name of Object.keys(value)) {
        if (isWanted(name)) return true;
        if (!(isPicture && name === "data")) waiting.push(value[name]);
      }
    }
  }
  return false;
}

/** Every member that is a text, as the JSON it would be: some texts are secrets by what they are called. */
export function* namedTextsIn(record: unknown, isWanted: (name: string) => boolean): Generator<string> {
  const waiting: unknown[] = [record];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value))
      if (typeof member !== "string") waiting.push(member);
      else if (isWanted(name)) yield JSON.stringify({ [name]: member });
  }
}

/** How PNG, JPEG, GIF and WebP begin in base64. */
const IMAGE_DATA = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)[A-Za-z0-9+/]+={0,2}$/;

/** Data that is an image: what looks like a secret in it would be chance. */
export function isImage(block: Readonly<Record<string, unknown>>): boolean {
  const data = block["data"];
  return block["type"] === "image" && typeof data === "string" && IMAGE_DATA.test(data);
}

interface Frame {
  path: string | number;
  entries: [string | number, unknown][];
  next: number;
  /** The members of the copy; of a list, its items under their numbers. */
  done: [string | number, unknown][];
  isList: boolean;
}

/** `isName`: the text is the name of the member at `path`, and not its value. */
export type ReplaceText = (text: string, path: FieldPath, isName: boolean) => string;

/** A copy of the record with each text, names of members included, as `replace` makes it. */
export function withTexts<T extends object>(record: T, replace: ReplaceText): T {
  const frames: Frame[] = [frameOf(record, "")];
  for (;;) {
    const frame = frames.at(-1)!;
    const item = frame.entries[frame.next++];
    if (item === undefined) {
      const copy = copyOf(frame);
      frames.pop();
      const above = frames.at(-1);
      if (above === undefined) return copy as T;
      above.done.push([frame.path, copy]);
      continue;
    }
    const [key, value] = item;
    const path = [...frames.slice(1).map((outer) => outer.path), key];
    const name = typeof key === "string" ? unusedName(frame, replace(key, path, true), key) : key;
    if (typeof value === "string") frame.done.push([name, replace(value, path, false)]);
    else if (typeof value === "object" && value !== null) frames.push(frameOf(value, name));
    else frame.done.push([name, value]);
  }
}

function frameOf(value: object, path: string | number): Frame {
  const isList = Array.isArray(value);
  return { path, entries: isList ? [...value.entries()] : Object.entries(value), next: 0, done: [], isList };
}

/** `Object.fromEntries` makes `__proto__` a member like any other. */
const copyOf = ({ isList, done }: Frame): object =>
  isList ? done.map(([, value]) => value) : Object.fromEntries(done);

/** Two members that are masked alike stay two. */
function unusedName({ entries, done }: Frame, name: string, original: string): string {
  if (name === original) return name;
  const isUsed = (wanted: string): boolean => [...entries, ...done].some(([used]) => used === wanted);
  let unused = name;
  for (let count = 2; isUsed(unused); count++) unused = `${name} ${count}`;
  return unused;
}

/** `message.content[0].text` */
export const fieldName = (path: FieldPath): string =>
  path.map((step, n) => (typeof step === "number" ? `[${step}]` : n === 0 ? step : `.${step}`)).join("");
