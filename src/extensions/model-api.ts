/**
 * The part of an extension's object with which it brings models. Part of `extensions/`; see extension-api.ts.
 */
import type { Provider } from "@earendil-works/pi-ai";
import type { ModelRegistry } from "../agent/models.ts";
import type { ProviderConfig } from "../agent/registered-providers.ts";
import { isRecord } from "../tree/json.ts";
import type { ExtensionAPI } from "./api.ts";
import type { Extension } from "./extension.ts";

export interface ModelApiHost {
  readonly providers: Pick<ModelRegistry, "register" | "registerWhole">;
}
export type ModelApi = Pick<ExtensionAPI, "registerProvider" | "unregisterProvider">;

/** Allowed at any time. */
export function bringingModels(extension: Extension, { providers }: ModelApiHost): ModelApi {
  const registerProvider = (given: unknown, config?: ProviderConfig): void => {
    extension.mustExist();
    const isWhole = isRecord(given);
    const name = isWhole ? String(given["id"]) : String(given);
    // The new one first: when it is refused, the one before stays.
    const remove = isWhole
      ? providers.registerWhole(given as unknown as Provider)
      : providers.register(name, config as ProviderConfig);
    extension.providers.get(name)?.();
    extension.providers.set(name, extension.whenRetired(remove));
    for (const type of otherTypes(config))
      extension.missingMethods.add(`registerProvider for models of type "${type}"`);
  };
  return {
    registerProvider,
    unregisterProvider: (name) => {
      extension.mustExist();
      extension.providers.get(name)?.();
      extension.providers.delete(name);
    },
  };
}

/** Kinds of models that bough has no use for. */
const otherTypes = ({ models = [] }: ProviderConfig = {}): string[] =>
  models.flatMap(({ type = "chat" }) => (type === "chat" ? [] : [type]));
