/**
 * Messages and entries as extensions draw them. Part of `tui/`; used by the chat's rows. A renderer that throws, or gives
 * nothing, leaves the usual row.
 */
import type { Component } from "@earendil-works/pi-tui";
import type { CustomEntry } from "../tree/entries.ts";
import type { MarkdownTransformContext } from "../extensions/api.ts";
import type { CustomMessage } from "../tree/messages.ts";
import { KEY_HINTS } from "./key-hints.ts";
import { Guarded } from "./guarded.ts";
import { bounded } from "./shown-text.ts";
import { liveTheme } from "./live-theme.ts";
import type { Owned, ScreenExtensions } from "./screen-extensions.ts";

/** Columns that bough's own rows keep free on either side. */
const ROW_MARGIN = 1;

export interface DrawOptions {
  expanded: boolean;
  /** The usual row. */
  instead: () => Component;
}

/** The message as its extension draws it; undefined when none does. */
export function drawnMessage(
  extensions: ScreenExtensions,
  message: { customType?: unknown },
  { expanded, instead }: DrawOptions,
): Component | undefined {
  if (typeof message.customType !== "string") return undefined;
  const options = { expanded, outputPad: ROW_MARGIN };
  return drawn(extensions.messageRenderer(message.customType), "message renderer", instead, (draw) =>
    draw(structuredClone(message) as CustomMessage, { ...options, ...KEY_HINTS }, liveTheme),
  );
}

/** The entry as its extension draws it; undefined when none does. */
export function drawnEntry(
  extensions: ScreenExtensions,
  entry: CustomEntry,
  { expanded, instead }: DrawOptions,
): Component | undefined {
  return drawn(extensions.entryRenderer(entry.customType), "entry renderer", instead, (draw) =>
    draw(structuredClone(entry), { expanded, ...KEY_HINTS }, liveTheme),
  );
}

/** A component that an extension makes, for a place of the screen. */
export function drawn<T>(
  owned: Owned<T> | undefined,
  event: string,
  instead: () => Component,
  make: (value: T) => Component | undefined,
): Component | undefined {
  if (owned === undefined) return undefined;
  const failed = (error: unknown): void => owned.owner.failed(event, error);
  try {
    const component = make(owned.value);
    return isComponent(component) ? new Guarded(component, { failed, instead }) : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** A text of the chat as extensions want it drawn. What fails, or gives no text, changes nothing. */
export function transformed(extensions: ScreenExtensions, text: string, context: MarkdownTransformContext): string {
  let result = text;
  for (const { owner, value } of extensions.markdownTransformers(context.messageType)) {
    try {
      const given: unknown = value(result, { ...context });
      if (typeof given === "string") result = bounded(given);
    } catch (error) {
      owner.failed("markdown transformer", error);
    }
  }
  return result;
}

const isComponent = (value: unknown): value is Component =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "render") === "function";
