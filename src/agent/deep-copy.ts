/**
 * `deepCopy`: a copy that shares nothing with what it was made of.
 * Part of `agent/`; for what hooks are given and what they answer, and for what extensions are handed.
 */

/** What cannot be copied as it is, such as a tool's details with a function in them, is copied as its JSON. */
export function deepCopy<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    const text = JSON.stringify(value) as string | undefined;
    return (text === undefined ? undefined : JSON.parse(text)) as T;
  }
}
