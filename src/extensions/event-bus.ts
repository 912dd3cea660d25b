/**
 * `EventBus`: where extensions talk to each other, as `pi.events`. Part of `extensions/`; the host has one.
 */

export interface EventBus {
  /** Tells everyone who listens to `channel`, in the order in which they began. */
  emit(channel: string, data?: unknown): void;
  /** Returns a function that ends it. */
  on(channel: string, listener: (data: unknown) => void): () => void;
}

/** A listener that throws, at once or later, is told of to `failed` and disturbs nobody. */
export function createEventBus(failed: (channel: string, error: unknown) => void): EventBus {
  const listeners = new Map<string, Set<{ call: (data: unknown) => unknown }>>();
  return {
    emit: (channel, data) => {
      for (const listener of [...(listeners.get(channel) ?? [])]) {
        try {
          Promise.resolve(listener.call(data)).catch((error: unknown) => failed(channel, error));
        } catch (error) {
          failed(channel, error);
        }
      }
    },
    on: (channel, call) => {
      const of = listeners.get(channel) ?? new Set();
      listeners.set(channel, of);
      // The same function may listen twice.
      const listener = { call };
      of.add(listener);
      return () => void of.delete(listener);
    },
  };
}
