/**
 * Service tiers: how fast and at what price a provider answers. Part of `agent/`; the session's state keeps the tier of
 * each provider family, AgentRun's requests carry it.
 *
 * Sources: OpenAI's `service_tier` (auto, default, flex, scale, priority), Anthropic's (auto, standard_only). "auto" is
 * what both do without being asked, so it is never sent.
 */
import type { ServiceTier } from "../tree/entries.ts";
import { isRecord } from "../tree/json.ts";
import { BUILT_IN_PROVIDERS } from "./providers.ts";
import type { Model } from "./providers.ts";

export type TierFamily = "openai" | "anthropic";

/** What each tier is called in a family's requests; undefined: nothing is sent. */
const WIRE_NAMES: Readonly<Record<TierFamily, ReadonlyMap<string, string | undefined>>> = {
  openai: new Map([
    ["auto", undefined],
    ["default", "default"],
    ["flex", "flex"],
    ["scale", "scale"],
    ["priority", "priority"],
  ]),
  anthropic: new Map([
    ["auto", undefined],
    ["default", "standard_only"],
    // Anthropic gives priority to whom it has been sold, unless the request declines.
    ["priority", undefined],
  ]),
};

/** Whose tiers a model's provider has: the two who have any, and endpoints of the user's own that speak as they do. */
export function tierFamily({ api, provider }: Pick<Model, "api" | "provider">): TierFamily | undefined {
  const isBuiltIn = BUILT_IN_PROVIDERS.some(({ id }) => id === provider);
  if (api === "anthropic-messages") return !isBuiltIn || provider === "anthropic" ? "anthropic" : undefined;
  if (api !== "openai-responses" && api !== "openai-completions") return undefined;
  return !isBuiltIn || provider === "openai" ? "openai" : undefined;
}

/** The tiers that can be asked for; none for a provider without. */
export function tiersOf(model: Pick<Model, "api" | "provider">): readonly string[] {
  const family = tierFamily(model);
  return family === undefined ? [] : [...WIRE_NAMES[family].keys()];
}

/** The tier that holds for a model; undefined where nobody has asked for one. */
export function tierFor(model: Pick<Model, "api" | "provider">, tiers: ServiceTier | undefined): string | undefined {
  const family = tierFamily(model);
  return family === undefined || tiers === undefined || !Object.hasOwn(tiers, family) ? undefined : tiers[family];
}

/** The request with the tier; undefined: as it is. A tier that the provider does not have is not sent. */
export function withServiceTier(payload: unknown, model: Model, tiers: ServiceTier | undefined): unknown {
  const family = tierFamily(model);
  const name = family && WIRE_NAMES[family].get(tierFor(model, tiers) ?? "");
  return name === undefined || !isRecord(payload) ? undefined : { ...payload, service_tier: name };
}
