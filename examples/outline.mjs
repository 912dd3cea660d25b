// A session's tree as rows, from bytes alone: nothing here needs Node but the first two lines of code.
import { readFileSync } from "node:fs";
import { Outline, drawnLine, plainText, readSession } from "bough/tree";

const bytes = readFileSync(process.argv[2] ?? new URL("../assets/example-session.jsonl", import.meta.url));
const reading = readSession({ read: (offset, length) => bytes.subarray(offset, offset + length) });
if (reading.kind !== "session") throw new Error(`This is no session: ${reading.kind}`);

const outline = new Outline(reading.index, { filter: "user-only" });
// Rows are made when asked for: a view of a million entries asks for one screen.
for (const row of outline.rows(0, outline.rowCount)) console.log(drawnLine(row));

outline.setFilter("default");
outline.setQuery("deadline");
const found = outline.rows(0, 2).map((row) => plainText(row.text));
console.log(`\n${outline.rowCount} rows with "deadline", the first two:`);
for (const text of found) console.log(`  ${text}`);
