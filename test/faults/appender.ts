/**
 * A program for FT13: appends records to a file that others append to at the same time. The order is JSON in the first
 * argument.
 */
import { FileStore } from "../../src/session/file-store.ts";

export interface AppendOrder {
  path: string;
  writer: number;
  /** How many records of how many characters, in turn. */
  parts: { count: number; length: number }[];
}

const { path, writer, parts } = JSON.parse(process.argv[2]!) as AppendOrder;
const store = FileStore.open(path);
let n = 0;
for (const { count, length } of parts)
  for (let k = 0; k < count; k++, n++)
    store.append(JSON.stringify({ type: "custom", writer, n, data: String(writer).repeat(length) }));
store.close();
