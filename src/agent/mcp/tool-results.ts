/**
 * What an MCP server answered to a call, as the result of a tool: text within the limits every tool has, images as images,
 * everything else as a line of text. Part of `agent/`; used for the tools of MCP servers.
 */
import type { AgentToolResult } from "@earendil-works/pi-agent-core";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { imageFault } from "../../tree/request-blocks.ts";
import { CommandOutput } from "../command-output.ts";
import { BoundedLines, MAX_OUTPUT_BYTES, counted, formatSize, startOfLine, withNotes } from "../output-limits.ts";

export interface McpCallDetails {
  server: string;
  /** As the server calls it. */
  tool: string;
  /** What the server gave for programs, when it is not too long to keep. */
  structuredContent?: unknown;
  /** Where all of a text lies that was too long to show. */
  fullOutputPath?: string;
}
type Block = AgentToolResult["content"][number];

/** Of one result; a page of screenshots is still sent. */
const MAX_IMAGES = 20;

/** `outputDir` is where the full text of a long result is kept; see CommandOutput. */
export function toolResult(
  answer: CallToolResult,
  call: { server: string; tool: string },
  outputDir: string | undefined,
): AgentToolResult<McpCallDetails> {
  const texts: string[] = [];
  const images: Block[] = [];
  for (const block of answer.content) {
    const found = readBlock(block);
    if (found.type === "text") texts.push(found.text);
    else if (images.length < MAX_IMAGES) images.push(found);
    else texts.push("[image left out: there are too many]");
  }
  const { structuredContent } = answer;
  const written = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  if (texts.length === 0 && images.length === 0 && written !== undefined) texts.push(written);
  const { text, fullOutputPath } = boundedText(texts.join("\n\n"), outputDir);
  const shown = text === "" && images.length === 0 ? "(no output)" : text;
  return {
    content: [...(shown === "" ? [] : [{ type: "text" as const, text: shown }]), ...images],
    details: {
      ...call,
      ...(written === undefined || written.length > MAX_OUTPUT_BYTES ? {} : { structuredContent }),
      ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
    },
    isError: answer.isError === true,
  };
}

function readBlock(block: CallToolResult["content"][number]): Block {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return image(block.data, block.mimeType);
    case "audio":
      return text(`[audio left out: ${block.mimeType}, ${base64Size(block.data)}]`);
    case "resource_link":
      return text(
        `[resource: ${[block.title ?? block.name, block.uri, block.description].filter(Boolean).join(" – ")}]`,
      );
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return text(`[resource: ${resource.uri}]\n${resource.text}`);
      const { uri, blob, mimeType = "" } = resource;
      if (mimeType.startsWith("image/")) return image(blob, mimeType);
      return text(`[resource left out: ${uri}, ${mimeType || "binary data"}, ${base64Size(blob)}]`);
    }
  }
}

const text = (value: string): Block => ({ type: "text", text: value });

/** An image no provider takes would fail every request from here on. */
function image(data: string, mimeType: string): Block {
  const fault = imageFault(data);
  return fault === undefined ? { type: "image", data, mimeType } : text(`[image left out: ${fault}]`);
}

const base64Size = (data: string): string => formatSize(Math.floor((data.length * 3) / 4));

/** The beginning of the text, and where all of it is. */
function boundedText(whole: string, outputDir: string | undefined): { text: string; fullOutputPath?: string } {
  const shown = new BoundedLines();
  const lines = whole.split("\n");
  if (lines.every((line) => shown.add(line))) return { text: whole };
  const output = new CommandOutput(outputDir);
  output.push(Buffer.from(whole));
  const file = output.finish(true);
  const beginning = shown.size === 0 ? startOfLine(lines[0]!, MAX_OUTPUT_BYTES / 3) : shown.toString();
  const what =
    shown.size === 0
      ? "Only the beginning of line 1 is shown"
      : `Only the first ${counted(shown.size, "line")} of ${lines.length.toLocaleString("en-US")} are shown`;
  const where = file.path === undefined ? "" : `; all of it is in ${file.path}`;
  return {
    text: withNotes(beginning, [`${what} (in all ${formatSize(Buffer.byteLength(whole))})${where}.`]),
    ...(file.path === undefined ? {} : { fullOutputPath: file.path }),
  };
}
