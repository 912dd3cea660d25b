/**
 * What "pi-ai" is in extensions: the library itself with its older functions, and TypeBox's Type, which older versions
 * of it exported. Part of `cli/`; see extension-names.ts.
 */
export * from "@earendil-works/pi-ai/compat";
export { Type } from "typebox";
