/**
 * Whether and when a failed answer is asked for again, and the wait before it.
 * Part of `agent/`; used by a run.
 */
import { isRetryableAssistantError, retryDelayMs } from "./providers.ts";
import type { AssistantMessage } from "@earendil-works/pi-ai";

/** Settings under `retry`. The delay doubles from `baseDelayMs` with every attempt, up to `maxDelayMs`. */
export interface RetrySettings {
  enabled: boolean;
  maxRetries: number;
  baseDelayMs: number;
  maxDelayMs: number;
}
export const DEFAULT_RETRY: RetrySettings = { enabled: true, maxRetries: 5, baseDelayMs: 2_000, maxDelayMs: 60_000 };

/** Milliseconds to wait before attempt `attempt` (1 is the first retry); undefined when it is not to be tried again. */
export function retryDelay(settings: RetrySettings, answer: AssistantMessage, attempt: number): number | undefined {
  if (!settings.enabled || attempt > settings.maxRetries || !isRetryableAssistantError(answer)) return undefined;
  return retryDelayMs({ baseDelayMs: settings.baseDelayMs, maxAgentDelayMs: settings.maxDelayMs }, attempt);
}

/** Waits; true when the time has passed, false as soon as `signal` aborts. */
export function countdown(delayMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(false);
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, delayMs);
    signal.addEventListener("abort", stop, { once: true });
  });
}
