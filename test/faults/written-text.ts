/**
 * What a fault test orders its writer to write, and the texts that come of it: made from a seed, so that the test knows
 * every byte without being told.
 */
import { SeededRandom } from "../support/generate.ts";

export interface Order {
  /** A folder for a new session, or the file of an old one. */
  place: string;
  seed: number;
  /** Messages to write. */
  count: number;
  /** Messages to write after a wait. */
  countAfterWait?: number;
  /** Characters of the shortest and the longest message; sizes are spread evenly over the orders of magnitude between. */
  smallest: number;
  largest: number;
  /** Wait for the disk before each ack. */
  flush?: boolean;
  /** Milliseconds after each message. */
  pause?: number;
  /** A session of its own for every so many messages. */
  newSessionEvery?: number;
  /** stop: at the first error. retry: once more at once. wait: once more at once, then for a line on standard input. */
  onError: "stop" | "retry" | "wait";
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 äöü 湖 → "\\\n\u2028';
const PIECES = [...ALPHABET];
const PATTERN_LENGTH = 997;

/** The text of message `n`. */
export function textOf({ seed, smallest, largest }: Pick<Order, "seed" | "smallest" | "largest">, n: number): string {
  const random = new SeededRandom(seed * 100_003 + n);
  for (let k = 0; k < 5; k++) random.below(2);
  const part = random.below(10_001) / 10_000;
  const length = Math.round(smallest * (largest / smallest) ** part);
  const pattern = Array.from({ length: Math.min(length, PATTERN_LENGTH) }, () => random.pick(PIECES)).join("");
  return `${seed}/${n} ${pattern.repeat(Math.ceil(length / PATTERN_LENGTH)).slice(0, length)}`;
}
