// Writes a session, goes back, and goes on from there on another branch. Both stay in the file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "bough/session";

const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
const session = SessionManager.create("/work/shop", folder);
const say = (content) => session.appendMessage({ role: "user", content, timestamp: Date.now() });

const question = say("Why is the shop slow?");
const idea = say("Try a cache.");
session.appendLabelChange(idea, "cache: dead end");

session.branch(question); // the leaf moves; nothing is erased
say("Measure first.");
await session.flush(); // from here on a power cut loses nothing

const again = await SessionManager.open(session.getSessionFile(), { readOnly: true });
const told = (entries) => entries.map((entry) => entry.message.content);
console.log("now:   ", told(again.getBranch()));
console.log("forks: ", told(again.getChildren(question)));
console.log("labels:", [...again.getIndex().labels().values()]);

await again.close();
await session.close();
rmSync(folder, { recursive: true });
