/**
 * When a conversation is compacted and how much of it stays: the settings under `compaction`.
 * Part of `agent/`; used by compaction, its preparation and the report of `/context`.
 */

/** Defaults as in pi 1.6 and oh-my-pi 18. All in tokens. */
export interface CompactionSettings {
  /** Whether bough compacts by itself; `/compact` works either way. */
  enabled: boolean;
  /** Left free below the model's window, for the answer. */
  reserveTokens: number;
  /** Kept word for word at the end of the conversation. */
  keepRecentTokens: number;
}
export const DEFAULT_COMPACTION: CompactionSettings = {
  enabled: true,
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
};

/**
 * A context larger than this is compacted before the next request; undefined when the window is not known. A reserve of
 * more than half the window counts as half: else small models would compact at every request.
 */
export function compactionThreshold(settings: CompactionSettings, window: number): number | undefined {
  if (!(window > 0)) return undefined;
  return Math.max(window - settings.reserveTokens, Math.floor(window / 2));
}

/** How much stays word for word: never more than half of what may be there, or a compaction would bring nothing. */
export function keptTokens(settings: CompactionSettings, window: number): number {
  const threshold = compactionThreshold(settings, window);
  if (threshold === undefined) return settings.keepRecentTokens;
  return Math.min(settings.keepRecentTokens, Math.floor(threshold / 2));
}
