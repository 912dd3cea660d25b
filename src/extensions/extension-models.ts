/**
 * The models as extensions see them, as `ctx.modelRegistry`. Part of `extensions/`.
 */
import type { ModelRegistry } from "../agent/models.ts";
import type { ExtensionModels } from "./api.ts";

/** Nothing of it leads to a key. */
export const extensionModels = (
  registry: Pick<ModelRegistry, "available" | "complete" | "find" | "keyProblem">,
): ExtensionModels => ({
  find: (provider, id) => registry.find(provider, id),
  getAvailable: () => [...registry.available()],
  getAll: () => [...registry.available()],
  hasConfiguredAuth: (model) => registry.keyProblem(model.provider) === undefined,
  complete: (model, context, options) => registry.complete(model, context, options),
});
