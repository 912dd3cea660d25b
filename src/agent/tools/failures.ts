/**
 * What the tools say when a call cannot be done: one plain sentence with the path, and what to do instead.
 * Part of `agent/`; thrown by the tools, and sent by the agent loop as the call's error result.
 */
import { reasonOf } from "../../session/session-errors.ts";
import { counted, formatSize } from "../output-limits.ts";

export const aborted = (): Error => new Error("The call was aborted.");

export const badPath = (reason: string): Error => new Error(`The path cannot be used: ${reason}.`);

export const missing = (path: string, similar: readonly string[]): Error =>
  new Error(
    `${path} does not exist.` +
      (similar.length > 0 ? ` Did you mean ${similar.join(", ")}?` : " Use find or ls to look."),
  );

export const brokenLink = (path: string, target: string): Error =>
  new Error(`${path} is a link to ${target}, which does not exist.`);

export const isDirectory = (path: string): Error => new Error(`${path} is a directory; use ls to see what is in it.`);

export const notDirectory = (path: string): Error =>
  new Error(`${path} is a file, not a directory; use read to see it.`);

export const notRegular = (path: string): Error =>
  new Error(`${path} is not a regular file (a pipe, socket or device), so it was left alone.`);

export const cannotRead = (path: string, cause: unknown): Error =>
  new Error(`${path} cannot be read: ${reasonOf(cause)}.`, { cause });

export const cannotWrite = (path: string, cause: unknown): Error =>
  new Error(`${path} was not written: ${reasonOf(cause)}.`, { cause });

export const partIsFile = (path: string): Error =>
  new Error(`${path} was not written: a part of its path is a file, not a directory.`);

export const binary = (path: string, bytes: number): Error =>
  new Error(
    `${path} is a binary file (${formatSize(bytes)}), so its content is not shown; ` +
      "use bash with a program that knows the format.",
  );

export const imageTooLarge = (path: string, mimeType: string, bytes: number, limit: number): Error =>
  new Error(
    `${path} is an image (${mimeType}) of ${formatSize(bytes)}; the limit is ${formatSize(limit)}, ` +
      "so make a smaller copy with bash and read that.",
  );

export const pastEnd = (path: string, offset: number, lines: number): Error =>
  new Error(`Line ${offset} is past the end of ${path}, which has ${counted(lines, "line")}.`);

export const tooLargeToEdit = (path: string, bytes: number, limit: number): Error =>
  new Error(
    `${path} has ${formatSize(bytes)}; files over ${formatSize(limit)} are not edited as text, ` +
      "so use bash with sed or a script.",
  );

export const utf16 = (path: string): Error =>
  new Error(`${path} is UTF-16 text, which edit cannot change; convert it with bash (iconv) first.`);

export const emptyOldText = (path: string, which: string): Error =>
  new Error(`${which}: oldText is empty, so there is nothing to look for in ${path}; use write for a whole file.`);

export const sameText = (path: string, which: string): Error =>
  new Error(`${which}: oldText and newText are the same, so ${path} was not changed.`);

export const textNotFound = (path: string, which: string, hint: string): Error =>
  new Error(`${which}: oldText does not occur in ${path}, which was not changed. ${hint}`);

export const textNotUnique = (path: string, which: string, count: number, lines: readonly number[]): Error =>
  new Error(
    `${which}: oldText occurs ${count} times in ${path}, starting at lines ${lines.join(", ")}` +
      `${lines.length < count ? ", …" : ""}; nothing was changed, so add lines around it until it is unique.`,
  );

export const editsOverlap = (path: string, first: string, second: string): Error =>
  new Error(`${first} and ${second} change the same text of ${path}; nothing was changed, so make them one edit.`);

export const badPattern = (pattern: string, reason: string): Error =>
  new Error(
    `The pattern ${JSON.stringify(pattern)} is not a valid regular expression: ${reason}; ` +
      "set literal to search for it as plain text.",
  );

export const badGlob = (glob: string): Error =>
  new Error(`The glob ${JSON.stringify(glob)} is not valid: a bracket or brace in it is not closed or it is too long.`);

export const noRipgrep = (reason: string): Error =>
  new Error(`Searching needs ripgrep, which could not be started (${reason}); install bough again, or use bash.`);

export const searchFailed = (path: string, reason: string): Error =>
  new Error(`The search in ${path} failed: ${reason}.`);
