/**
 * `deepCopy`: a copy that shares nothing with what it was made of.
 * Part of `agent/`; for what hooks are given and what they answer.
 */

/** Values that cannot be copied as they are, such as functions in a tool's details, are copied as their JSON. */
export function deepCopy<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return JSON.parse(JSON.stringify(value)) as T;
  }
}
