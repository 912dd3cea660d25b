/**
 * What `export` of `--mode rpc` does. Part of `cli/`; used by session-handlers.ts.
 */
import { homedir } from "node:os";
import { knownSecrets } from "../../agent/known-secrets.ts";
import type { KnownSecret } from "../../agent/known-secrets.ts";
import type { AgentSession } from "../../agent/agent-session.ts";
import type { Given, Taken } from "./commands.ts";
import { CommandFailure } from "./failure.ts";

/** Relative paths are meant from `cwd`. */
export async function exportAnswer(
  session: Pick<AgentSession, "keysInUse" | "sessionManager">,
  cwd: string,
  taken: Taken<"export">,
): Promise<Given<"export">> {
  const manager = session.sessionManager;
  const file = manager.getSessionFile();
  if (file === undefined || !manager.hasFile())
    throw new CommandFailure(
      "refused",
      "Nothing of this session is in a file; save_as writes one that can be exported.",
    );
  if (!manager.isReadOnly()) await manager.flush();
  const { exportSession } = await import("../../export/export-session.ts");
  const inUse = await session.keysInUse();
  const secrets = (): KnownSecret[] => knownSecrets({ inUse });
  const done = await exportSession(file, taken, { cwd, home: homedir(), secrets });
  const { path = "", format, entries, bytes, imagesLeftOut, linesLeftOut, redaction } = done;
  const redacted =
    redaction === undefined
      ? null
      : {
          total: redaction.total,
          placeCount: redaction.placeCount,
          places: redaction.places.map(({ entryId = null, ...place }) => ({ entryId, ...place })),
        };
  return { path, format, entries, bytes, imagesLeftOut, linesLeftOut, redacted };
}
