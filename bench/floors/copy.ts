/** Floor of writing a session out of another: every byte read once and written once, the new file synced. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { measured, timed } from "../child/measured.ts";
import { eachPiece } from "./lines.ts";

const [path] = process.argv.slice(2) as [string];
await measured(async () => {
  let bytes = 0;
  const { ms } = await timed(() => {
    const file = openSync(`${path}.copy`, "wx");
    eachPiece(path, (piece) => {
      bytes += writeSync(file, piece);
    });
    fsyncSync(file);
    closeSync(file);
  });
  return { figures: { ms }, answer: `${bytes} bytes` };
});
