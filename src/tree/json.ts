/**
 * Values from outside: what they are, and what of them can be sent as JSON.
 * Part of `tree/`: pure. Used wherever a record of unknown shape is read, and by `convertToLlm`.
 */
import type { JsonObject, JsonValue } from "./message-types.ts";

/** Deeper values are cut: `JSON.stringify` recurses, and a request must not fail on one. */
export const MAX_JSON_DEPTH = 100;
const TOO_DEEP = "(left out: nested too deeply)";

/** An object that is not an array and not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an entry can hold it: no cycle, no bigint, and nothing in it that throws. */
export function isStorable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * The text with halves of surrogate pairs as U+FFFD and NULs as "␀": providers refuse a request that holds either.
 * Returns the same string when there is nothing to replace.
 */
export function wellFormed(text: string): string {
  const whole = text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\u2400") : whole;
}

interface Frame {
  source: Record<string, unknown> | unknown[];
  /** The record's own keys; undefined for a list. */
  keys: string[] | undefined;
  next: number;
  copy: JsonObject | JsonValue[];
}

/**
 * The value as JSON can carry it: strings and keys well-formed, no cycle, no deeper than `MAX_JSON_DEPTH`, nothing JSON
 * has no word for. Returns the very same value when it already is so; otherwise a copy. Never recursive.
 */
export function sendable(root: unknown): JsonValue {
  const frames: Frame[] = [];
  const ancestors = new Set<object>();
  let changed = false;
  const convert = (value: unknown): JsonValue => {
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "string") {
      const text = wellFormed(value);
      if (text !== value) changed = true;
      return text;
    }
    if (typeof value === "object" && !ancestors.has(value) && frames.length < MAX_JSON_DEPTH) {
      const keys = Array.isArray(value) ? undefined : Object.keys(value);
      const copy: JsonObject | JsonValue[] = keys ? {} : [];
      frames.push({ source: value as Frame["source"], keys, next: 0, copy });
      ancestors.add(value);
      return copy;
    }
    changed = true;
    return typeof value === "object" ? TOO_DEEP : null;
  };

  const result = convert(root);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const at = frame.next++;
    if (at >= (frame.keys ?? (frame.source as unknown[])).length) {
      frames.pop();
      ancestors.delete(frame.source);
    } else if (frame.keys === undefined) {
      (frame.copy as JsonValue[]).push(convert((frame.source as unknown[])[at]));
    } else {
      const key = frame.keys[at]!;
      const value = (frame.source as Record<string, unknown>)[key];
      // As JSON.stringify does, and no change worth reporting.
      if (value === undefined) continue;
      const name = wellFormed(key);
      if (name !== key) changed = true;
      setOwn(frame.copy as JsonObject, name, convert(value));
    }
  }
  return changed ? result : (root as JsonValue);
}

/** Plain assignment, except that `__proto__` becomes a property like any other. */
function setOwn(target: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
