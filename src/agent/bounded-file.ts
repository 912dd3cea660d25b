/**
 * Reading a small file that somebody else may have put there: a limit on its size, no waiting on pipes.
 * Part of `agent/`; used for settings, trust and context files.
 */
import * as fs from "node:fs";
import { reasonOf, systemCode } from "../session/session-errors.ts";
import { formatSize } from "./output-limits.ts";

export type FileText =
  | { kind: "text"; text: string }
  | { kind: "missing" }
  /** `reason` completes the sentence "… cannot be read: ". */
  | { kind: "unreadable"; reason: string };

/** The text of a regular file of at most `maxBytes`, as UTF-8 without a byte order mark; links are followed. */
export function readSmallFile(path: string, maxBytes: number): FileText {
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return { kind: "missing" };
    return { kind: "unreadable", reason: reasonOf(error) };
  }
  try {
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) return { kind: "unreadable", reason: "it is not a regular file" };
    if (stats.size > maxBytes) {
      return { kind: "unreadable", reason: `it has ${formatSize(stats.size)}, more than ${formatSize(maxBytes)}` };
    }
    return { kind: "text", text: fs.readFileSync(fd, "utf8").replace(/^\ufeff/, "") };
  } catch (error) {
    return { kind: "unreadable", reason: reasonOf(error) };
  } finally {
    fs.closeSync(fd);
  }
}
