/**
 * `HookPort`: the named points where something outside may look or change what happens.
 * Owned by `agent/`, which emits; the extension host implements it, tests pass plain functions. What is told and
 * answered is in hook-events.ts, whose names are exported from here too.
 */
import type { HookEvent, HookName, HookResult } from "./hook-events.ts";

export type * from "./hook-events.ts";

export interface HookPort {
  /** Whether anyone listens; payloads that cost something are built only then. */
  has(name: HookName): boolean;
  /** Tells the listeners and gives their merged answer. A rejection is reported to the user and counts as no answer. */
  emit<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined>;
}

/** Nobody listens. */
export const NO_HOOKS: HookPort = { has: () => false, emit: async () => undefined };

export type HookFunctions = {
  [N in HookName]?: (event: HookEvent<N>) => HookResult<N> | undefined | Promise<HookResult<N> | undefined>;
};

/** A port of one plain function for each hook of interest. */
export function hooksFrom(functions: HookFunctions): HookPort {
  return {
    has: (name) => functions[name] !== undefined,
    emit: async (name, event) => functions[name]?.(event),
  };
}
