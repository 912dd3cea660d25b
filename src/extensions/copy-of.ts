/**
 * `copyOf`: what is handed to extensions instead of the thing itself. Part of `extensions/`.
 */
import { deepCopy } from "../agent/deep-copy.ts";

/**
 * A deep copy of plain data; an AbortSignal stays itself. What cannot be copied, such as a function somewhere in a
 * tool's details, is left out.
 */
export const copyOf = <T>(value: T): T =>
  typeof value !== "object" || value === null || value instanceof AbortSignal ? value : deepCopy(value);

/** A copy of a record whose members are copied each when it is first read: most readers look at one or two of many. */
export function lazyCopy<R extends object>(record: R): R {
  const copy = { ...record };
  for (const key of Object.keys(record) as (keyof R)[]) {
    if (typeof record[key] !== "object" || record[key] === null) continue;
    const define = (value: R[keyof R]): void =>
      void Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
    Object.defineProperty(copy, key, {
      enumerable: true,
      configurable: true,
      get: () => {
        define(copyOf(record[key]));
        return copy[key];
      },
      set: define,
    });
  }
  return copy;
}

/** A copy of a record, member by member. */
export const copyEach = <R extends object>(record: R): R =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, copyOf<unknown>(value)])) as R;
