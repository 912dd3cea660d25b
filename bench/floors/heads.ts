/** Floor of a list: the size and the first 4 KiB of every file in a folder. */
import { closeSync, fstatSync, openSync, readSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { measured, timed } from "../child/measured.ts";

const HEAD = 4096;

function readHeads(folder: string): number {
  const buffer = Buffer.allocUnsafeSlow(HEAD);
  const names = readdirSync(folder);
  for (const name of names) {
    const file = openSync(join(folder, name), "r");
    fstatSync(file);
    readSync(file, buffer, 0, HEAD, 0);
    closeSync(file);
  }
  return names.length;
}

const [folder] = process.argv.slice(2) as [string];
await measured(async () => {
  const first = await timed(() => readHeads(folder));
  const again = await timed(() => readHeads(folder));
  return { figures: { ms: first.ms, again: again.ms }, answer: `${first.value}, then ${again.value} files` };
});
