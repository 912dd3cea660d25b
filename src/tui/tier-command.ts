/** `/tier`: shows or sets the provider's service tier. Part of `tui/`; a row of the registry of commands. */
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { AgentSession } from "../agent/agent-session.ts";
import { tierFamily, tierFor, tiersOf } from "../agent/service-tier.ts";

/** The screen the command was typed on. */
interface TierScreen {
  readonly session: Pick<AgentSession, "model" | "state">;
  setStatus(text: string): void;
}

export function tierCommand(host: TierScreen, argument: string): void {
  const { model, state } = host.session;
  if (model === undefined) return host.setStatus("No model is chosen; /model chooses one");
  const tiers = tiersOf(model);
  const family = tierFamily(model);
  if (family === undefined) return host.setStatus(`${model.provider} has no service tiers that bough can ask for`);
  if (argument === "")
    return host.setStatus(`Service tier: ${tierFor(model, state.serviceTier) ?? "auto"} (of ${tiers.join(", ")})`);
  const tier = tiers.find((known) => known === argument.toLowerCase());
  if (tier === undefined)
    return host.setStatus(`There is no service tier ${argument}; ${model.provider} has ${tiers.join(", ")}`);
  state.setServiceTier({ ...state.serviceTier, [family]: tier });
  host.setStatus(`Service tier: ${tier}`);
}

export function tierCompletions({ session }: TierScreen): AutocompleteItem[] {
  const tiers = session.model === undefined ? [] : tiersOf(session.model);
  return tiers.map((tier) => ({ value: tier, label: tier }));
}
