/**
 * What the handlers of `--mode rpc` work on. Part of `cli/`.
 */
import type { AgentSession } from "../../agent/agent-session.ts";
import type { ModelRegistry } from "../../agent/models.ts";
import type { LoadedExtensions } from "../loaded-extensions.ts";
import { CommandFailure } from "./failure.ts";

export interface RpcHost {
  readonly session: AgentSession;
  readonly registry: ModelRegistry;
  /** Undefined: there are none. */
  readonly extensions?: LoadedExtensions | undefined;
  /** The folder bough was started in. */
  readonly cwd: string;
  /** Tells of what failed when nobody waits for it any more. */
  told(error: unknown): void;
}

/** Throws when the session stands elsewhere than the client expects; undefined expects nothing. */
export function checkLeaf(session: AgentSession, expected: string | null | undefined): void {
  const leafId = session.sessionManager.getLeafId();
  if (expected === undefined || expected === leafId) return;
  const shown = (id: string | null): string => (id === null ? "before the first entry" : `at ${id}`);
  const text = `The session stands ${shown(leafId)}, not ${shown(expected)}; nothing was done.`;
  throw new CommandFailure("leaf", text, { leafId });
}
