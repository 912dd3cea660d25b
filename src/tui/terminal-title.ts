/**
 * The title of the terminal's window.
 * Part of `tui/`; used by session-screen at the start and whenever the session or its name changes.
 */
import { basename } from "node:path";
import { cutText } from "../tree/content.ts";
import { sanitiseLine } from "./sanitise.ts";

/** Longer titles help no taskbar. */
const MAX_PART = 60;

/** "bough - name - folder", without the name while there is none; "bough (plan) - …" while planning. */
export function terminalTitle(sessionName: string | undefined, cwd: string, isPlanning = false): string {
  return [isPlanning ? "bough (plan)" : "bough", sessionName ?? "", basename(cwd)]
    .map((part) => cutText(sanitiseLine(part), MAX_PART).toWellFormed())
    .filter((part) => part !== "")
    .join(" - ");
}
