/** Floor of appending: JSON.stringify and one write for each entry, to a file that stays open. */
import { closeSync, openSync, writeSync } from "node:fs";
import { measured, median } from "../child/measured.ts";
import { testMessages } from "../child/messages.ts";

const [path] = process.argv.slice(2) as [string];
await measured(() => {
  const file = openSync(path, "a");
  const times = testMessages().map((message, n) => {
    const start = performance.now();
    const id = n.toString(16).padStart(8, "0");
    const entry = { type: "message", id, parentId: id, timestamp: new Date().toISOString(), message };
    writeSync(file, `${JSON.stringify(entry)}\n`);
    return performance.now() - start;
  });
  closeSync(file);
  return { figures: { ms: median(times) }, answer: `${times.length} lines added` };
});
