/**
 * A program for tests: appends messages far beyond what the file may hold and keeps going in memory; then says as one
 * line of JSON what it has, and where the unsaved entries went: a session of their own, made from them.
 */
import { dirname, join } from "node:path";
import { SessionManager } from "../../src/session/session-manager.ts";
import { user } from "./session-files.ts";

const session = SessionManager.create("/w", process.argv[2]!);
session.watchSaving(() => undefined, { keepsUnsaved: true });
const ids = Array.from({ length: 24 }, () => session.appendMessage(user("x".repeat(600))));
const path = session.getSessionFile()!;
const unsaved = session.getUnsavedCount();
const saved = (await SessionManager.open(path, { readOnly: true })).getEntries().length;
const rest = SessionManager.create("/w", join(dirname(path), "rest"));
const texts = session.getEntries().slice(saved);
const copied = texts.map(() => rest.appendMessage(user("x".repeat(600))));
process.stdout.write(
  `${JSON.stringify({ ids: [...ids.slice(0, saved), ...copied], unsaved, rest: rest.getSessionFile(), path })}\n`,
);
