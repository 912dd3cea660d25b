/**
 * The models as extensions see them, as `ctx.modelRegistry`: the names are pi's. Part of `extensions/`.
 */
import type { ModelRegistry } from "../agent/models.ts";
import { reasonOf } from "../session/session-errors.ts";
import type { ExtensionModels } from "./api.ts";

type Registry = Pick<
  ModelRegistry,
  "authFor" | "available" | "complete" | "find" | "keyProblem" | "nameOf" | "streamNatively" | "streamSimple"
>;

/** An extension has the rights of its user, whose keys these are. */
export function extensionModels(registry: Registry): ExtensionModels {
  return {
    find: (provider, id) => registry.find(provider, id),
    getAvailable: () => [...registry.available()],
    getAll: () => [...registry.available()],
    hasConfiguredAuth: ({ provider }) => registry.keyProblem(provider) === undefined,
    complete: (model, context, options) => registry.streamNatively(model, context, options).result(),
    completeSimple: (model, context, options) => registry.complete(model, context, options),
    stream: (model, context, options) => registry.streamNatively(model, context, options),
    streamSimple: (model, context, options) => registry.streamSimple(model, context, options),
    getApiKey: async (model) => (await registry.authFor(model))?.apiKey,
    getApiKeyForProvider: async (provider) => (await registry.authFor(provider))?.apiKey,
    getApiKeyAndHeaders: async (model) => {
      try {
        const auth = await registry.authFor(model);
        if (auth !== undefined) return { ok: true, ...auth };
        return { ok: false, error: registry.keyProblem(model.provider) ?? "" };
      } catch (error) {
        return { ok: false, error: reasonOf(error) };
      }
    },
    getProviderDisplayName: (provider) => registry.nameOf(provider),
    findOfType: () => undefined,
    getModelsOfType: () => [],
    refresh: async () => undefined,
  };
}
