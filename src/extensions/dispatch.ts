/**
 * `Dispatcher`: tells the listeners of an event one after the other and makes one answer of theirs. No listener can
 * stop another, bough, or change what it was not given to change. Part of `extensions/`; the host has one.
 */
import type { HookEvent, HookName, HookResult } from "../agent/hook-port.ts";
import { isRecord } from "../tree/json.ts";
import type { ExtensionContext } from "./api.ts";
import type { Extension, Listener } from "./extension.ts";
import * as notices from "./extension-notices.ts";
import { MERGE_RULES } from "./merge-rules.ts";

/** Something an extension did wrong. */
export interface ExtensionError {
  extensionPath: string;
  /** Of the hook, or "command", "tool", "shortcut", "renderer", "events" and such. */
  event: string;
  error: string;
  stack?: string;
}

/** Milliseconds. */
export interface TimeLimits {
  handlerMs: number;
  shutdownMs: number;
}

export interface DispatchHost {
  extensions(): readonly Extension[];
  contextOf(extension: Extension): ExtensionContext;
  /** Added to what a hook's listeners are told. */
  additions(name: HookName, told: Record<string, unknown>): void;
  failed(extension: Extension, event: string, error: unknown): void;
  readonly limits: TimeLimits;
}

export class Dispatcher {
  readonly #host: DispatchHost;

  constructor(host: DispatchHost) {
    this.#host = host;
  }

  has(name: HookName): boolean {
    return this.#host.extensions().some(({ listeners }) => listeners.some(({ hook }) => hook === name));
  }

  async emit<N extends HookName>(name: N, event: HookEvent<N>): Promise<HookResult<N> | undefined> {
    const called = this.#host
      .extensions()
      .flatMap((extension) =>
        extension.listeners.filter(({ hook }) => hook === name).map((listener) => ({ extension, listener })),
      );
    if (called.length === 0) return undefined;
    const rule = MERGE_RULES[name];
    const round = rule.begin(event);
    const tell = async ({ extension, listener }: (typeof called)[number]): Promise<boolean> => {
      const told = round.told() as Record<string, unknown>;
      this.#host.additions(name, told);
      const answer = await this.#call(extension, listener, told, rule.together === true);
      return round.take(isRecord(answer) ? answer : undefined, told) === true;
    };
    if (rule.together) {
      await Promise.all(called.map((one) => tell(one).catch((error: unknown) => this.#failed(one, error))));
      return round.result();
    }
    for (const one of called) {
      // A listener before it may have ended it.
      if (!one.extension.listeners.includes(one.listener)) continue;
      try {
        if (await tell(one)) break;
      } catch (error) {
        this.#failed(one, error);
        if (rule.failed !== undefined) return rule.failed(one.extension.path, messageOf(error));
      }
    }
    return round.result();
  }

  #call(extension: Extension, { name, call }: Listener, told: object, isLast: boolean): Promise<unknown> {
    const { handlerMs, shutdownMs } = this.#host.limits;
    const limit = isLast ? shutdownMs : handlerMs;
    return extension.clock.within(
      limit,
      () => call(Object.assign(told, { type: name }), this.#host.contextOf(extension)),
      () => new Error(notices.tooSlow(name, limit / 1000)),
    );
  }

  #failed({ extension, listener }: { extension: Extension; listener: Listener }, error: unknown): void {
    this.#host.failed(extension, listener.name, error);
  }
}

/** What was thrown may be anything. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    return "something that cannot be shown";
  }
}
