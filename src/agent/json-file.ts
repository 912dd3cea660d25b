/**
 * JSON files that people edit by hand: read with errors that name the line, written without touching what is not meant.
 * Part of `agent/`; used for settings and trust.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { canonicalPath, ensurePrivateDir } from "../session/locations.ts";
import { writeNewFile } from "../session/new-file.ts";
import { readSmallFile } from "./bounded-file.ts";
import { readJson } from "./json-source.ts";

/** Far more than any such file has. */
const MAX_JSON_BYTES = 4 * 1024 * 1024;

/** Keys as they stand in the file; `__proto__` is one like any other. */
export type JsonEntries = Map<string, unknown>;
export type JsonFile =
  | {
      kind: "object";
      entries: JsonEntries;
      /** 1-based line where a key's value stands; 1 for a key that is not there. */
      lineOf(key: string): number;
    }
  | { kind: "missing" }
  /** `problem` is a plain sentence with the path and, where there is one, the line. */
  | { kind: "broken"; problem: string };

/** Reads a file whose content is one JSON object. */
export function readJsonFile(path: string): JsonFile {
  const file = readSmallFile(path, MAX_JSON_BYTES);
  if (file.kind === "missing") return file;
  if (file.kind === "unreadable") return { kind: "broken", problem: `${path} cannot be read: ${file.reason}.` };
  return parseJsonFile(path, file.text);
}

/** What a file at `path` with this text says; an empty one is an empty object. */
export function parseJsonFile(path: string, text: string): JsonFile {
  if (text.trim() === "") return { kind: "object", entries: new Map(), lineOf: () => 1 };
  const reading = readJson(text);
  if (!reading.ok) return { kind: "broken", problem: `${path}:${reading.line} is not valid JSON.` };
  const entries = entriesOf(reading.value);
  if (entries === undefined) return { kind: "broken", problem: `${path} must hold a JSON object: {"name": value}.` };
  return { kind: "object", entries, lineOf: (key) => reading.lineOf(`/${key}`) };
}

/** The keys of a parsed object; undefined for anything else. */
export function entriesOf(value: unknown): JsonEntries | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/**
 * Replaces a private JSON file (0600) in one step, its folder (0700) made if missing; a link stays one.
 * Throws the system's error, and then the file is as before.
 */
export function writeJsonFile(path: string, entries: JsonEntries): void {
  const target = canonicalPath(path);
  ensurePrivateDir(dirname(target));
  // Not a plain object: a key "__proto__" must be written as one.
  const text = `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
  writeNewFile(target, [Buffer.from(text)], (temporary) => fs.renameSync(temporary, target));
}
