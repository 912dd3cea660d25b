// What a model is sent for a place in a session. The list is valid for every provider, whatever the file holds.
import { fileURLToPath } from "node:url";
import { SessionManager } from "bough/session";
import { contextOfPath, convertToLlm } from "bough/tree";

const path = process.argv[2] ?? fileURLToPath(new URL("../assets/example-session.jsonl", import.meta.url));
const session = await SessionManager.open(path, { readOnly: true });

const here = session.buildSessionContext();
const repairs = [];
const messages = convertToLlm(here.messages, { onRepair: (what) => repairs.push(what) });
console.log(`${messages.length} messages for ${here.model.provider}/${here.model.modelId}, ${repairs.length} repaired`);
console.log(messages.map((message) => message.role).join(" "));

// A context depends on its own path alone: any entry has one, without moving the leaf.
const fork = session.getEntries().find((entry) => session.getChildren(entry.id).length > 1);
const earlier = contextOfPath(session.getBranch(fork.id));
console.log(`${convertToLlm(earlier.messages).length} messages up to the fork at ${fork.id}`);
await session.close();
