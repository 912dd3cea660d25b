/**
 * A session of a list as a JSON object. Part of `cli/`; used by `bough list --json` and `--mode rpc`.
 */
import type { SessionInfo } from "../session/catalog.ts";

export interface SessionRecord {
  path: string;
  /** "" when the file is no session. */
  id: string;
  name?: string;
  cwd: string;
  cwdMissing: boolean;
  created: string;
  modified: string;
  /** Absent when not all of the file has been read. */
  messages?: number;
  firstMessage: string;
  parentSession?: string;
  size: number;
  kind: SessionInfo["kind"];
  reason?: string;
}

export const sessionRecord = (info: SessionInfo): SessionRecord => ({
  path: info.path,
  id: info.id,
  ...(info.name === undefined ? {} : { name: info.name }),
  cwd: info.cwd,
  cwdMissing: info.cwdMissing,
  created: info.created.toISOString(),
  modified: info.modified.toISOString(),
  ...(info.messageCount === undefined ? {} : { messages: info.messageCount }),
  firstMessage: info.firstMessage,
  ...(info.parentSession === undefined ? {} : { parentSession: info.parentSession }),
  size: info.size,
  kind: info.kind,
  ...(info.reason === undefined ? {} : { reason: info.reason }),
});
