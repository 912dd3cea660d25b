/**
 * Whether and when a failed answer is asked for again, and the wait before it.
 * Part of `agent/`; used by a run.
 */
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { isUnreachable } from "./provider-error.ts";
import { isRetryableAssistantError, retryDelayMs } from "./providers.ts";

/** Settings under `retry`. The delay doubles from `baseDelayMs` with every attempt, up to `maxDelayMs`. */
export interface RetrySettings {
  enabled: boolean;
  maxRetries: number;
  baseDelayMs: number;
  maxDelayMs: number;
}
export const DEFAULT_RETRY: RetrySettings = { enabled: true, maxRetries: 5, baseDelayMs: 2_000, maxDelayMs: 60_000 };

/** Where nothing answers, waiting seldom helps: all attempts are over within a few seconds. */
const UNREACHABLE_RETRY = { maxRetries: 3, baseDelayMs: 500 };

/** The next attempt, which is number `attempt` (1 is the first retry). */
export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
}

/** The attempt after `failed` ones; undefined when there is none. `isReached`: the endpoint has answered before. */
export function nextRetry(
  settings: RetrySettings,
  answer: AssistantMessage,
  failed: number,
  isReached: boolean,
): Retry | undefined {
  const { maxRetries, baseDelayMs } = !isReached && hasNotArrived(answer) ? limited(settings) : settings;
  const attempt = failed + 1;
  if (!settings.enabled || attempt > maxRetries || !isRetryableAssistantError(answer)) return undefined;
  const delayMs = retryDelayMs({ baseDelayMs, maxAgentDelayMs: settings.maxDelayMs }, attempt);
  return { attempt, maxAttempts: maxRetries, delayMs };
}

/** The request has come nowhere. */
export const hasNotArrived = ({ errorMessage }: AssistantMessage): boolean => isUnreachable(errorMessage ?? "");

const limited = ({ maxRetries, baseDelayMs }: RetrySettings): Pick<RetrySettings, "maxRetries" | "baseDelayMs"> => ({
  maxRetries: Math.min(maxRetries, UNREACHABLE_RETRY.maxRetries),
  baseDelayMs: Math.min(baseDelayMs, UNREACHABLE_RETRY.baseDelayMs),
});

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
