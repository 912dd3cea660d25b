// Follows a session that another program writes: reads it again and tells what is new. Reading needs no permission of
// the writer and never disturbs it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "bough/session";

const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
const writer = SessionManager.create("/work/shop", folder);
let known = 0;

/** Tells of the entries since the last time; they only ever come at the end. */
async function look() {
  const reader = await SessionManager.open(writer.getSessionFile(), { readOnly: true });
  const news = reader.getEntries().slice(known);
  known += news.length;
  for (const entry of news)
    if (entry.type === "message" && entry.message.role === "user") console.log("new:", entry.message.content);
  if (news.length === 0) console.log("nothing new");
  await reader.close();
}

for (const content of ["one", "two"]) {
  writer.appendMessage({ role: "user", content, timestamp: Date.now() });
  await look();
}
await look();

await writer.close();
rmSync(folder, { recursive: true });
