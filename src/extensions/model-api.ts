/**
 * The part of an extension's object with which it brings models. Part of `extensions/`; see extension-api.ts.
 */
import type { Provider } from "@earendil-works/pi-ai";
import type { ModelRegistry } from "../agent/models.ts";
import type { ProviderConfig } from "../agent/registered-providers.ts";
import type { ModelRoute, VirtualModelDefinition } from "../agent/virtual-models.ts";
import { isRecord } from "../tree/json.ts";
import type { ExtensionAPI, ExtensionContext, ExtensionVirtualModel } from "./api.ts";
import { copyEach, copyOf } from "./copy-of.ts";
import type { Extension } from "./extension.ts";
import * as notices from "./extension-notices.ts";

export interface ModelApiHost {
  readonly providers: Pick<ModelRegistry, "register" | "registerVirtual" | "registerWhole">;
  /** How long a handler may take, in milliseconds. */
  readonly handlerMs: number;
  contextOf(extension: Extension): ExtensionContext;
}
export type ModelApi = Pick<
  ExtensionAPI,
  "registerProvider" | "registerVirtualModel" | "unregisterProvider" | "unregisterVirtualModel"
>;

/** Allowed at any time. */
export function bringingModels(extension: Extension, host: ModelApiHost): ModelApi {
  const { providers } = host;
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
  const registerVirtualModel = (given: ExtensionVirtualModel): void => {
    extension.mustExist();
    // Whether it is one is looked at where it is listed.
    const route = typeof given?.route === "function" ? routing(extension, given, host) : (undefined as never);
    const remove = providers.registerVirtual({ ...given, route });
    extension.virtualModels.set(keyOf(given.provider, given.id), extension.whenRetired(remove));
  };
  return {
    registerProvider,
    registerVirtualModel: registerVirtualModel as ExtensionAPI["registerVirtualModel"],
    unregisterVirtualModel: (provider, id) => {
      extension.mustExist();
      extension.virtualModels.get(keyOf(provider, id))?.();
      extension.virtualModels.delete(keyOf(provider, id));
    },
    unregisterProvider: (name) => {
      extension.mustExist();
      extension.providers.get(name)?.();
      extension.providers.delete(name);
    },
  };
}

const keyOf = (provider: string, id: string): string => `${provider}/${id}`;

/** The router as bough asks it: with copies, and not for long. */
function routing(
  extension: Extension,
  given: ExtensionVirtualModel,
  host: ModelApiHost,
): VirtualModelDefinition["route"] {
  return async (request) => {
    const tooSlow = (): Error => new Error(notices.tooSlow("route", host.handlerMs / 1000));
    const route = (): unknown => given.route(copyEach(request), host.contextOf(extension));
    return copyOf(await extension.clock.within(host.handlerMs, route, tooSlow)) as ModelRoute;
  };
}

/** Kinds of models that bough has no use for. */
const otherTypes = ({ models = [] }: ProviderConfig = {}): string[] =>
  models.flatMap(({ type = "chat" }) => (type === "chat" ? [] : [type]));
