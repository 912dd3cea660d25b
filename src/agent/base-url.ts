/**
 * Whether an address can be that of a provider. Part of `agent/`; used for those of flags and of `models.json`.
 */

/** What is wrong with it, after "The base URL"; undefined: nothing. A password in it is not repeated. */
export function baseUrlFault(address: string): string | undefined {
  if (!/^https?:\/\/[^/]/.test(address)) return `${address} does not begin with http:// or https://`;
  if (!URL.canParse(address)) return `${address} is no address`;
  const { username, password } = new URL(address);
  if (username === "" && password === "") return undefined;
  // No request can be made to such an address.
  return `${address.replace(/\/\/.*@/s, "//…@")} holds a user name or a password; give the key apart`;
}
