/**
 * What waits: queued messages, and the output of a `!command` that still runs.
 * Part of `tui/`; used by session-screen between the chat and the status line.
 */
import { type Component, Container, Text, TruncatedText } from "@earendil-works/pi-tui";
import type { QueuedMessage } from "../agent/message-queue.ts";
import { Panel } from "./panel.ts";
import { sanitiseLine } from "./sanitise.ts";
import { bounded, collapseLines } from "./shown-text.ts";
import { theme } from "./theme.ts";

const RUNNING_LINES = 10;

export class PendingView extends Container {
  readonly #dequeueKey: string;
  #queue: readonly QueuedMessage[] = [];
  #command: { text: string; output: string } | undefined;

  constructor(dequeueKey: string) {
    super();
    this.#dequeueKey = dequeueKey;
  }
  setQueue(queue: readonly QueuedMessage[]): void {
    this.#queue = queue;
    this.#rebuild();
  }
  /** The command that runs now, or undefined when none does. */
  setCommand(text: string | undefined): void {
    this.#command = text === undefined ? undefined : { text, output: "" };
    this.#rebuild();
  }
  /** The running command's output so far. */
  setOutput(output: string): void {
    if (this.#command === undefined) return;
    this.#command.output = output;
    this.#rebuild();
  }
  override invalidate(): void {
    this.#rebuild();
  }

  #rebuild(): void {
    this.clear();
    if (this.#command !== undefined) this.addChild(commandPanel(this.#command));
    for (const { kind, text } of this.#queue) {
      const label = kind === "steer" ? "Steering" : "Follow-up";
      this.addChild(new TruncatedText(theme.fg("dim", `${label}: ${sanitiseLine(text)}`), 1, 0));
    }
    if (this.#queue.length > 0)
      this.addChild(new TruncatedText(theme.fg("dim", `↳ ${this.#dequeueKey} to edit all queued messages`), 1, 0));
  }
}

function commandPanel(command: { text: string; output: string }): Component {
  const { lines } = collapseLines(bounded(command.output).trimEnd().split("\n"), RUNNING_LINES, "tail");
  const parts = [new Text(theme.fg("bashMode", theme.bold(`$ ${bounded(command.text)}`)), 0, 0)];
  if (lines.join("") !== "") parts.push(new Text(theme.fg("toolOutput", lines.join("\n")), 0, 0));
  return new Panel(parts, "toolPendingBg");
}
