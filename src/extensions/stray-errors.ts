/**
 * What extensions throw where nobody waits for it: in timers, listeners of their own, promises they have forgotten.
 * Node ends the program over such an error; an extension's is told of and goes no further. All others take the way they
 * would have taken. Part of `extensions/`; the host uses it.
 */

/** Takes an error; false when it is none of its own. */
export type StrayCatcher = (error: unknown) => boolean;

const catchers = new Set<StrayCatcher>();

/** Returns a function that ends it. */
export function catchStrays(catcher: StrayCatcher): () => void {
  if (catchers.size === 0) process.setUncaughtExceptionCaptureCallback(strayed);
  catchers.add(catcher);
  return () => {
    if (catchers.delete(catcher) && catchers.size === 0) process.setUncaughtExceptionCaptureCallback(null);
  };
}

function strayed(error: Error): void {
  for (const catcher of catchers) if (catcher(error)) return;
  const listeners = process.listeners("uncaughtException");
  for (const listener of listeners) listener(error, "uncaughtException");
  if (listeners.length > 0) return;
  process.setUncaughtExceptionCaptureCallback(null);
  // Thrown from in here it would look like a mistake of this handler.
  setImmediate(() => {
    throw error;
  });
}
