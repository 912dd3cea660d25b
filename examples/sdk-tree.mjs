// Goes back to an earlier point and asks again there; then a session of its own from one of the prompts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelRegistry, SessionManager, createAgentSession } from "bough";
import { Outline, drawnLine } from "bough/tree";
import { startModel } from "./support/model-server.mjs";

const provider = await startModel((_, request) => `Answer ${request}.`);
const registry = await ModelRegistry.load({ environment: {} });
await registry.addEndpoint({ baseUrl: provider.baseUrl, model: "stand-in" });
const folder = mkdtempSync(join(tmpdir(), "bough-example-"));
const sessionManager = SessionManager.create(folder, folder);
const session = await createAgentSession({ registry, model: "endpoint/stand-in", sessionManager });
const draw = () => {
  const outline = new Outline(sessionManager.getIndex());
  for (const row of outline.rows(0, outline.rowCount)) console.log(drawnLine(row));
};

await session.prompt("Why is the shop slow?");
const found = sessionManager.getLeafId();
await session.prompt("Try a cache.");
const left = sessionManager.getLeafId();

// The leaf moves, nothing is erased; what is asked next is another branch. `summarize: true` would hang a summary of what
// is left behind there.
await session.navigateTree(found);
await session.prompt("Measure first.");
draw();

await session.back(); // to where the leaf was before the jump
console.log("back where it was:", sessionManager.getLeafId() === left);

// A new file that ends before a prompt, whose text comes back to be edited. The old file stays as it is.
const { selectedText } = await session.branch(session.getUserMessages()[1].entryId);
console.log("to be sent anew:", selectedText);
draw();

await session.dispose();
await sessionManager.close();
provider.close();
rmSync(folder, { recursive: true });
