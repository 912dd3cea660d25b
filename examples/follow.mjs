// Follows a session that another program writes, live. Reading needs no permission of the writer and never disturbs it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "bough/session";

const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
const writer = SessionManager.create("/work/shop", folder);
const say = (content) => writer.appendMessage({ role: "user", content, timestamp: Date.now() });
say("one");

const reader = await SessionManager.open(writer.getSessionFile(), { readOnly: true });
console.log("there already:", reader.getEntries().length);
const heard = Promise.withResolvers();
const stop = reader.follow((news) => {
  if (news.type === "lost") return heard.reject(news.error);
  for (const entry of news.entries)
    if (entry.type === "message" && entry.message.role === "user") console.log("new:", entry.message.content);
  // What is told of is in the reader's tree, at the leaf where a reader of the file finds it.
  if (reader.getEntries().length === 3) heard.resolve(reader.getLeafId());
});

say("two");
const last = say("three");
console.log("the same leaf:", (await heard.promise) === last);

stop();
await reader.close();
await writer.close();
rmSync(folder, { recursive: true });
