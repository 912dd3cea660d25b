/**
 * The clock by which a store decides whether its last look at the file was just now.
 */
import type { TestContext } from "node:test";

/** Stands still, or goes on by so many milliseconds each time somebody looks. */
export function setClock(t: TestContext, step: number): void {
  let now = performance.now();
  t.mock.method(performance, "now", () => (now += step));
}
