/**
 * `buildSystemPrompt`: who the model is here, what it can use, and what the user and the project ask of it.
 * Part of `agent/`; used by AgentSession.
 */
import type { ContextFile } from "./context-files.ts";
import { promptBlock } from "./prompt-block.ts";

export interface SystemPromptOptions {
  cwd: string;
  /** Of the tools the model may call. */
  tools: readonly { name: string }[];
  contextFiles: readonly ContextFile[];
  /** The day, not the time: the prompt must stay the same for the provider's cache. */
  date: Date;
  /** By default this system's. */
  platform?: string;
  /** Replaces the introduction and the advice on tools. */
  instructions?: string;
  /** Added at the end. */
  append?: string;
}

const INTRODUCTION = `You are the coding agent in bough, a program in the user's terminal. You work on the user's own files, in their working directory, with the tools you are given.

How to work:
- Look before you change: read the code that matters and follow its habits.
- Do what was asked, completely, and no more. If something else looks wrong, say so and leave it.
- Check your work: run the tests or the program where you can, and say what you could not check.
- Never invent results. If a command failed or a file is missing, say so.
- Ask before anything that cannot be undone: deleting the user's work, rewriting history, publishing.
- Answer in short, plain sentences. Name files with their path, and a line where it helps.`;

/** Advice holds only when all its tools are there. */
const ADVICE: readonly { tools: readonly string[]; text: string }[] = [
  {
    tools: ["read", "bash"],
    text: "Read files with read, not with cat or sed: it shows images and says what it leaves out.",
  },
  { tools: ["edit", "write"], text: "Change files with edit; use write for new files and complete rewrites." },
  { tools: ["edit", "read"], text: "Read a file before you edit it, and copy oldText from it exactly." },
  { tools: ["grep", "find"], text: "Search content with grep and names with find; both skip what .gitignore names." },
  {
    tools: ["bash"],
    text: "A command has no terminal: nothing can be typed into it. Start servers in the background.",
  },
];

/** The same input gives the same text. */
export function buildSystemPrompt(options: SystemPromptOptions): string {
  const { cwd, contextFiles, date, platform = process.platform, append } = options;
  const parts = [
    options.instructions ?? [INTRODUCTION, toolAdvice(options.tools)].filter((part) => part !== "").join("\n\n"),
    ...(contextFiles.length === 0 ? [] : [instructionsFrom(contextFiles)]),
    `Working directory: ${cwd}\nOperating system: ${platform}\nDate: ${date.toISOString().slice(0, 10)}`,
    ...(append === undefined || append.trim() === "" ? [] : [append.trim()]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function toolAdvice(tools: readonly { name: string }[]): string {
  const names = new Set(tools.map((tool) => tool.name));
  const advice = ADVICE.filter((entry) => entry.tools.every((name) => names.has(name))).map(
    (entry) => `- ${entry.text}`,
  );
  return advice.length === 0 ? "" : `Tools:\n${advice.join("\n")}`;
}

function instructionsFrom(contextFiles: readonly ContextFile[]): string {
  const blocks = contextFiles.map(({ path, text }) => promptBlock("context_file", { path }, text));
  return `Instructions from the user and the project; where two disagree, the later one holds:\n\n${blocks.join("\n\n")}`;
}
