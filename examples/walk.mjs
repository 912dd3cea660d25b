// Opens a session for reading and walks its tree; no byte of the file is changed.
import { fileURLToPath } from "node:url";
import { SessionManager } from "bough/session";

const path = process.argv[2] ?? fileURLToPath(new URL("../assets/example-session.jsonl", import.meta.url));
const session = await SessionManager.open(path, { readOnly: true });
const index = session.getIndex();

// Entries have ordinals, 0 … size - 1, in the order of the file; -1 stands above the roots. A list of what is still to
// visit instead of recursion: conversations are deep.
const open = [{ n: -1, depth: -1 }];
let deepest = 0;
const forks = [];
for (let place = open.pop(); place !== undefined; place = open.pop()) {
  const children = index.treeChildren(place.n);
  deepest = Math.max(deepest, place.depth + 1);
  if (place.n >= 0 && children.length > 1) forks.push(index.at(place.n).id);
  for (const child of children) open.push({ n: child, depth: place.depth + 1 });
}

console.log(`${index.size} entries, ${deepest} deep, forks at ${forks.join(", ")}`);
console.log(`${session.getBranch().length} of them on the way to the leaf, ${session.getLeafId()}`);
for (const [id, label] of index.labels()) console.log(`${id} is labelled "${label}"`);
for (const problem of session.getProblems()) console.log(`line ${problem.line}: ${problem.text}`);
await session.close();
