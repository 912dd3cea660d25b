/**
 * `EventBus`: where extensions talk to each other, as `pi.events`. Part of `extensions/`; the host has one.
 */

export interface EventBus {
  /** Tells everyone who listens to `channel`, in the order in which they began. */
  emit(channel: string, data?: unknown): void;
  /** Returns a function that ends it. */
  on(channel: string, listener: (data: unknown) => unknown): () => void;
}

/** Listeners must not throw: who puts one on the bus answers for it. */
export function createEventBus(): EventBus {
  const listeners = new Map<string, Set<{ call: (data: unknown) => unknown }>>();
  return {
    emit: (channel, data) => {
      // Who begins while it is told of something hears of the next.
      for (const { call } of Array.from(listeners.get(channel) ?? [])) call(data);
    },
    on: (channel, call) => {
      const those = listeners.get(channel) ?? new Set();
      listeners.set(channel, those);
      // The same function may listen twice.
      const listener = { call };
      those.add(listener);
      return () => void those.delete(listener);
    },
  };
}
