/**
 * `SpoolFile`: the later part of a file whose earlier part is known last. Written beside the file, 0600, and removed.
 * Part of `export/`; used by html.ts.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { PRIVATE_FILE } from "../session/new-file.ts";

const PIECE_BYTES = 1 << 20;

export class SpoolFile {
  readonly #path: string;
  readonly #fd: number;
  #held: string[] = [];
  #heldLength = 0;

  /** @param path the file that is to be made */
  constructor(path: string) {
    this.#path = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
    this.#fd = fs.openSync(this.#path, "wx+", PRIVATE_FILE);
  }

  /** @param text ASCII alone */
  write(text: string): void {
    this.#held.push(text);
    this.#heldLength += text.length;
    if (this.#heldLength >= PIECE_BYTES) this.#flush();
  }

  /** All that was written, in pieces; each is used up before the next is asked for. */
  *pieces(): Generator<Uint8Array> {
    this.#flush();
    const memory = Buffer.allocUnsafeSlow(PIECE_BYTES);
    let read = 0;
    for (let at = 0; (read = fs.readSync(this.#fd, memory, 0, PIECE_BYTES, at)) > 0; at += read)
      yield memory.subarray(0, read);
  }

  remove(): void {
    fs.closeSync(this.#fd);
    fs.rmSync(this.#path, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#held.join(""), "latin1");
    for (let done = 0; done < bytes.length;) done += fs.writeSync(this.#fd, bytes, done);
    this.#held = [];
    this.#heldLength = 0;
  }
}
