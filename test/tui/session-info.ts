/** Sessions as the catalog lists them, for the tests of the session picker. */
import type { SessionInfo } from "../../src/session/catalog.ts";

/** A session whose file is `/sessions/<id>.jsonl`. */
export function sessionInfo(id: string, fields: Partial<SessionInfo> = {}): SessionInfo {
  return {
    path: `/sessions/${id}.jsonl`,
    id,
    cwd: "",
    name: undefined,
    parentSession: undefined,
    created: new Date(0),
    modified: new Date(0),
    messageCount: 2,
    firstMessage: "",
    size: 100,
    kind: "ok",
    reason: undefined,
    isSubagent: false,
    isComplete: true,
    isExample: false,
    cwdMissing: false,
    ...fields,
  };
}
