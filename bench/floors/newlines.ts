/** Floor of all reading: every byte once, the newlines counted. */
import { measured, timed } from "../child/measured.ts";
import { countNewlines } from "./lines.ts";

const [path] = process.argv.slice(2) as [string];
await measured(async () => {
  const { ms, value } = await timed(() => countNewlines(path));
  return { figures: { ms }, answer: `${value} lines` };
});
