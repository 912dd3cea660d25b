/**
 * `withinTime`: runs a synchronous piece of work that may take for ever, such as a regular expression of somebody else's
 * with a bad case in it, and ends it when its time is up. Part of `agent/`; used by stream-rules.ts.
 *
 * V8 stops a regular expression in the middle only for a script that node:vm runs with a timeout. Starting one costs
 * about a third of a millisecond, so callers gather work.
 */
import { Script, createContext } from "node:vm";

const idle = (): void => undefined;
const scope: { work: () => void } = { work: idle };
const context = createContext(scope);
const script = new Script("work()");

/** False when the work was ended before it was done. What the work throws is thrown. */
export function withinTime(milliseconds: number, work: () => void): boolean {
  scope.work = work;
  try {
    script.runInContext(context, { timeout: milliseconds });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return false;
  } finally {
    scope.work = idle;
  }
}
