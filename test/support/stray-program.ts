/**
 * A program with an extension loaded in which something goes wrong where nobody waits for it. Arguments: the file of the
 * extension, and "own" for a mistake of the program itself.
 */
import { ExtensionHost } from "../../src/extensions/host.ts";
import { projectTrust } from "../../src/agent/trust.ts";
import { NO_MODELS } from "./extension-harness.ts";

const [path = "", whose] = process.argv.slice(2);
const host = new ExtensionHost({
  cwd: process.cwd(),
  project: projectTrust(process.cwd(), { stateDir: "/none" }),
  registry: NO_MODELS,
  find: () => ({
    places: [{ path, source: { path, source: path, scope: "temporary", origin: "top-level" } }],
    problems: [],
  }),
  tell: (level, text) => console.log(level, text),
});
await host.load();
if (whose === "own")
  setTimeout(() => {
    throw new Error("bough's own");
  }, 5);
setTimeout(() => {
  console.log("still here");
  host.dispose();
}, 100);
