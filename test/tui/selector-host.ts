/** The screen of the selector-controller's tests: what is shown on it, what the user was told, and keys to press. */
import { ok } from "node:assert/strict";
import { TuiMainScreen } from "@earendil-works/pi-tui";
import type { Component } from "@earendil-works/pi-tui";
import { defaultKeybindings } from "../../src/tui/keybindings.ts";
import { PromptEditor } from "../../src/tui/prompt-editor.ts";
import type { SelectorHost } from "../../src/tui/selector-controller.ts";
import { VirtualTerminal } from "../support/virtual-terminal.ts";
import { body, KEYS, lines } from "./selector-screen.ts";
import type { KeyName } from "./selector-screen.ts";

export class TestHost implements SelectorHost {
  shown: Component | undefined;
  editor = "";
  readonly said: string[] = [];
  copied: string | undefined;
  show(component: Component): void {
    this.shown = component;
  }
  hide(): void {
    this.shown = undefined;
  }
  setEditorText(text: string): void {
    this.editor = text;
  }
  getEditorText(): string {
    return this.editor;
  }
  status(text: string): void {
    this.said.push(text);
  }
  error(text: string): void {
    this.said.push(`error: ${text}`);
  }
  rebuildChat(): void {
    this.said.push("rebuilt");
  }
  requestRender(): void {}
  copyToClipboard(text: string): void {
    this.copied = text;
  }
  rows(): number {
    return 40;
  }
  newEditor(): PromptEditor {
    return new PromptEditor(new TuiMainScreen(new VirtualTerminal()), defaultKeybindings());
  }
  press(...keys: KeyName[]): void {
    for (const key of keys) this.shown!.handleInput!(KEYS[key]);
  }
  title(): string | undefined {
    return this.shown === undefined ? undefined : lines(this.shown, 60)[2]!.trim();
  }
  rowsShown(): string[] {
    return body(this.shown!, 60);
  }
}

/** Lets what was begun by a key come to its end. */
export async function settled(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !isDone(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  ok(isDone(), "what the key began did not end");
}
