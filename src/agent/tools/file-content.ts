/**
 * What kind of file this is, told from its first bytes: an image the model can see, text, or something else.
 * Part of `agent/`; used by read, write and edit.
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { systemCode } from "../../session/session-errors.ts";
import * as failures from "./failures.ts";
import { missingPath, shownPath } from "./tool-path.ts";

/** As much as git looks at. */
const SAMPLE_BYTES = 8000;

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";
export type FileKind =
  | { kind: "image"; mimeType: string }
  | { kind: "text"; encoding: Encoding; bomBytes: number }
  | { kind: "binary" };

/** The formats that all providers with vision take. */
const IMAGE_STARTS: readonly { mimeType: string; starts: readonly (readonly [offset: number, bytes: string])[] }[] = [
  { mimeType: "image/png", starts: [[0, "\x89PNG\r\n\x1a\n"]] },
  { mimeType: "image/jpeg", starts: [[0, "\xff\xd8\xff"]] },
  { mimeType: "image/gif", starts: [[0, "GIF87a"]] },
  { mimeType: "image/gif", starts: [[0, "GIF89a"]] },
  {
    mimeType: "image/webp",
    starts: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
];

/** Reads only `sample`, the file's first bytes. */
export function kindOfFile(sample: Buffer): FileKind {
  const image = IMAGE_STARTS.find(({ starts }) =>
    starts.every(([offset, bytes]) => sample.toString("latin1", offset, offset + bytes.length) === bytes),
  );
  if (image !== undefined) return { kind: "image", mimeType: image.mimeType };
  if (sample[0] === 0xff && sample[1] === 0xfe) return { kind: "text", encoding: "utf-16le", bomBytes: 2 };
  if (sample[0] === 0xfe && sample[1] === 0xff) return { kind: "text", encoding: "utf-16be", bomBytes: 2 };
  if (looksBinary(sample)) return { kind: "binary" };
  const bom = sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf;
  return { kind: "text", encoding: "utf-8", bomBytes: bom ? 3 : 0 };
}

/** Text has no NUL; without one, as many control characters as a third of the bytes are not text either. */
function looksBinary(sample: Buffer): boolean {
  if (sample.includes(0)) return true;
  let controls = 0;
  for (const byte of sample) if (byte < 0x20 && (byte < 0x08 || byte > 0x0d) && byte !== 0x1b) controls++;
  return controls * 3 > sample.length;
}

/** A file opened for reading, known to be a regular one. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
  kind: FileKind;
}

/** Opens an existing regular file and looks at its first bytes; throws one plain sentence otherwise. */
export async function openFile(cwd: string, path: string): Promise<OpenFile> {
  const shown = shownPath(cwd, path);
  let handle: FileHandle | undefined;
  try {
    refuseOther(shown, await stat(path));
    // Not blocking: the file may have become a pipe since.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    refuseOther(shown, stats);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return { handle, stats, kind: kindOfFile(buffer.subarray(0, bytesRead)) };
  } catch (error) {
    await handle?.close();
    if (systemCode(error) === "ENOENT") throw missingPath(cwd, path);
    throw systemCode(error) === "" ? error : failures.cannotRead(shown, error);
  }
}

function refuseOther(shown: string, stats: Stats): void {
  if (stats.isDirectory()) throw failures.isDirectory(shown);
  if (!stats.isFile()) throw failures.notRegular(shown);
}
