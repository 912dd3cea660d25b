/** Floor of a context that holds the whole file: JSON.parse of every line, all results kept. */
import { measured, timed } from "../child/measured.ts";
import { eachLine } from "./lines.ts";

const [path] = process.argv.slice(2) as [string];
await measured(async () => {
  const records: unknown[] = [];
  const { ms } = await timed(() =>
    eachLine(path, (bytes, start, end) => records.push(JSON.parse(bytes.toString("utf8", start, end)))),
  );
  return { figures: { ms }, answer: `${records.length} records` };
});
