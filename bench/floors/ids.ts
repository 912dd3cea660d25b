/** Floor of opening: every byte once, of each line only the ids in its beginning, kept as a tree. */
import { measured, timed } from "../child/measured.ts";
import { eachLine } from "./lines.ts";

/** Bytes; type, id and parentId are a line's first members. */
const PREFIX = 160;

function readTree(path: string): { places: Map<string, number>; parents: number[] } {
  const places = new Map<string, number>();
  const parents: number[] = [];
  eachLine(path, (bytes, start, end) => {
    const prefix = bytes.toString("latin1", start, Math.min(end, start + PREFIX));
    const id = valueAfter(prefix, '"id":"');
    const parent = valueAfter(prefix, '"parentId":"');
    parents.push(parent === undefined ? -1 : (places.get(parent) ?? -1));
    if (id !== undefined) places.set(id, parents.length - 1);
  });
  return { places, parents };
}

function valueAfter(text: string, name: string): string | undefined {
  const at = text.indexOf(name);
  if (at < 0) return undefined;
  const start = at + name.length;
  return text.slice(start, text.indexOf('"', start));
}

const [path] = process.argv.slice(2) as [string];
await measured(async () => {
  const { ms, value } = await timed(() => readTree(path));
  return { figures: { ms }, answer: `${value.places.size} ids` };
});
