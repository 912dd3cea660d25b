/**
 * Small texts that extensions show: ranges of lines, changes of files. Part of `cli/`; see coding-agent.ts.
 */
import { colourDiff } from "../../tui/diff-view.ts";

/** ":10-29", ":10" or "" for the arguments of a call of read. */
export function formatReadLineRange(offset: unknown, limit: unknown): string {
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const first = typeof offset === "number" ? offset : 1;
  return typeof limit === "number" ? `:${first}-${first + limit - 1}` : `:${first}`;
}

/** A unified diff, coloured. */
export const renderDiff = (diff: string): string => colourDiff(diff.split("\n")).join("\n");
