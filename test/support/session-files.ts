/**
 * Folders and files for session tests, and the messages they hold.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unsealed } from "./session-lines.ts";
import type { AssistantMessage, UserMessage } from "../../src/tree/messages.ts";

const folders: string[] = [];
// Locks lie in the state folder, and a test must not touch the user's.
process.env["BOUGH_DIR"] ??= temporaryFolder();
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when all tests are over: sessions are checked after the test that made them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bough-test-"));
  folders.push(folder);
  return folder;
}

/** A file with this content in a folder of its own. */
export function temporaryFile(content: string | Uint8Array, name = "session.jsonl"): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}

export const contentOf = (path: string): string => readFileSync(path, "utf8");

/** The records of a file, line by line, without their seals, which are checked; what is no JSON stays text. */
export function recordsIn(path: string): unknown[] {
  const lines = contentOf(path).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => {
    try {
      return JSON.parse(unsealed(line)) as unknown;
    } catch {
      return line;
    }
  });
}

export const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 1_767_225_600_000 });

export const assistant = (text: string, output = 10): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-x",
  usage: {
    input: 100,
    output,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 100 + output,
    cost: { input: 0.5, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 0.75 },
  },
  stopReason: "stop",
  timestamp: 1_767_225_601_000,
});
