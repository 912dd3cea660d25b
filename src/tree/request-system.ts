/**
 * System messages (pi's: prompt, sections and tools at a point of the conversation) as a provider takes them.
 * Part of `tree/`: pure. Used by `convertToLlm`.
 */
import { isRecord, sendable, wellFormed } from "./json.ts";
import type { SystemMessage, TextContent } from "./message-types.ts";
import type { Report } from "./repairs.ts";
import { soundBlocks, soundTime } from "./request-blocks.ts";
import type { RequestTarget } from "./request-target.ts";

type Tool = NonNullable<SystemMessage["toolsAdded"]>[number];

/** `undefined` when nothing in it says anything. */
export function soundSystemMessage(
  message: Record<string, unknown>,
  target: RequestTarget,
  report: Report,
): SystemMessage | undefined {
  const content = soundInstructions(message["content"], target, report);
  const sections = soundSections(message["sections"], report);
  const toolsAdded = soundList(message["toolsAdded"], (tool) => isTool(tool, target), report);
  const toolsRemoved = soundList(
    message["toolsRemoved"],
    (tool) => isRecord(tool) && typeof tool["name"] === "string",
    report,
  );
  if (content.length === 0 && sections === undefined && toolsAdded === undefined && toolsRemoved === undefined)
    return undefined;
  const timestamp = soundTime(message);
  const fields = { content, sections, toolsAdded, toolsRemoved, timestamp };
  if (Object.entries(fields).every(([key, value]) => message[key] === value))
    return message as unknown as SystemMessage;
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { role: "system", ...Object.fromEntries(kept) } as unknown as SystemMessage;
}

function soundInstructions(content: unknown, target: RequestTarget, report: Report): string | TextContent[] {
  if (typeof content === "string") {
    if (content.trim() === "") return "";
    const whole = wellFormed(content);
    if (whole !== content) report("characters");
    return whole;
  }
  const blocks = soundBlocks(content, target, report);
  const texts = blocks.filter((block) => block.type === "text");
  if (texts.length !== blocks.length) report("bad-block");
  return texts.length === 0 ? "" : texts.length === blocks.length ? (blocks as TextContent[]) : texts;
}

function soundSections(sections: unknown, report: Report): SystemMessage["sections"] {
  if (sections === undefined) return undefined;
  const sound =
    isRecord(sections) && Object.values(sections).every((text) => text === null || typeof text === "string");
  const whole = sound ? sendable(sections) : undefined;
  if (whole !== sections) report(sound ? "characters" : "bad-field");
  return whole as SystemMessage["sections"];
}

function soundList<T>(list: unknown, isSound: (item: unknown) => boolean, report: Report): T[] | undefined {
  if (list === undefined) return undefined;
  const items: unknown[] = Array.isArray(list) ? list : [];
  const sound = items.filter((item) => isSound(item) && sendable(item) === item);
  if (sound.length !== items.length || items !== list) report("bad-field");
  if (sound.length === 0) return undefined;
  return (sound.length === items.length ? items : sound) as T[];
}

function isTool(value: unknown, target: RequestTarget): value is Tool {
  return (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    target.acceptsToolName(value["name"]) &&
    typeof value["description"] === "string" &&
    isRecord(value["parameters"])
  );
}
