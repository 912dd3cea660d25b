/**
 * A plan's title, the session's name made of it, and the prompt that carries it out.
 * Part of `agent/`; used by plan mode.
 */
import { basename } from "node:path";
import { promptBlock } from "./prompt-block.ts";

/**
 * A plan's title as a session name: runs of `-` and `_` become one space, the ends are trimmed, the first character is
 * upper-cased, all else stays. "" when nothing is left, and then the session keeps its name.
 */
export function humanizePlanTitle(title: string): string {
  const words = title.replace(/[-_]+/g, " ").trim();
  const first = words.codePointAt(0);
  if (first === undefined) return "";
  const character = String.fromCodePoint(first);
  return character.toUpperCase() + words.slice(character.length);
}

/** Characters of a title; file names end at 255 bytes. */
const MAX_TITLE = 60;
/** Not in file names, somewhere: control characters and what Windows and shells take for something else. */
const NOT_IN_NAMES = /[\p{Cc}\p{Cf}\p{Cs}/\\:*?"<>|]+/gu;

/** The first of these that says something: the title the model gave, the plan's first heading, its file's name. */
export function planTitle({ given, plan, path }: { given?: string; plan: string; path: string }): string {
  const heading = /^#[ \t]+(.+)$/m.exec(plan)?.[1];
  const titles = [given, heading, basename(path)].map((title) => (title === undefined ? "" : normalTitle(title)));
  return titles.find((title) => title !== "") ?? "plan";
}

/** As a file name: no `.md` at the end, no path, `-` for white space. */
function normalTitle(title: string): string {
  const words = title.trim().replace(/\.md$/i, "").replace(/\s+/g, "-").replace(NOT_IN_NAMES, "").replace(/^\.+/, "");
  return [...words].slice(0, MAX_TITLE).join("");
}

/** What the model is told when the user has approved a plan. */
export function approvedPrompt({ title, plan, path }: { title: string; plan: string; path: string }): string {
  return [
    `The plan below is approved and kept in ${path}. Carry it out step by step, and check the result.`,
    promptBlock("plan", { title }, plan),
  ].join("\n\n");
}

/** What a compaction keeps in view when the plan is carried out after it. */
export const planFocus = (plan: string): string =>
  `The plan below has been approved and is carried out next; keep what that needs.\n\n${promptBlock("plan", {}, plan)}`;
