/**
 * `/export`: the session as a page, as Markdown or as a session file to give away, and what was masked in it.
 * Part of `tui/`; a row of the registry of commands. The options are those of `bough export`.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentSession } from "../agent/agent-session.ts";
import { knownSecrets } from "../agent/known-secrets.ts";
import { fenced } from "../tree/content.ts";
import { sanitiseLine } from "./sanitise.ts";
import { literal } from "./session-report.ts";

/** The screen the command was typed on. */
interface ExportScreen {
  readonly session: Pick<AgentSession, "cwd" | "keysInUse" | "sessionManager">;
  setStatus(text: string): void;
  showText(markdown: string): void;
}

/** Places of secrets that are named. */
const PLACES = 20;

/** Rejects with a sentence for the user; then nothing was written. */
export async function exportCommand(screen: ExportScreen, argument: string): Promise<void> {
  const { cwd, sessionManager: manager } = screen.session;
  const file = manager.getSessionFile();
  if (file === undefined)
    return screen.setStatus("This session is kept in memory; /save-as writes it to a file, which can be exported");
  if (!manager.hasFile()) return screen.setStatus("Nothing to export yet");
  // Secrets are looked for with a library that takes its time to load.
  const [{ exportLine }, { exportSession }, { exportedText, redactionLines }] = await Promise.all([
    import("../export/export-arguments.ts"),
    import("../export/export-session.ts"),
    import("../export/export-report.ts"),
  ]);
  const request = exportLine(argument);
  const home = homedir();
  if (!manager.isReadOnly()) await manager.flush();
  screen.setStatus("Exporting…");
  const inUse = await screen.session.keysInUse();
  const done = await exportSession(
    file,
    { ...request, out: request.out?.replace(/^~(?=[/\\])/, () => join(home)) },
    {
      cwd,
      home,
      secrets: () => knownSecrets({ inUse }),
      onProgress: (step, at, entries) =>
        screen.setStatus(`${step === "scanning" ? "Looking for secrets" : "Writing"}: ${at} of ${entries} entries`),
    },
  );
  screen.setStatus("Exported");
  const [masked = "", ...places] = redactionLines(done.redaction, PLACES).map(sanitiseLine);
  const list = places.length === 0 ? "" : `\n\n${fenced(places.join("\n"))}`;
  screen.showText(`${literal(sanitiseLine(exportedText(done)))}\n\n${literal(masked)}${list}`);
}
