/**
 * `SessionState`: what holds for the next request beside the conversation: model, thinking level, service tier, mode and
 * tool selection. It follows the leaf: after each move it is what the new path says.
 * Part of `agent/`; AgentSession has one, and its features read it.
 */
import type { ServiceTier } from "../tree/entries.ts";
import type { ContextState } from "../tree/session-context.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { HookEvent } from "./hook-port.ts";
import { NO_MODEL } from "./models.ts";
import type { ModelRegistry } from "./models.ts";
import { modelOf } from "../tree/kinds.ts";
import { isVirtual } from "./virtual-models.ts";
import { THINKING_LEVELS, clampThinkingLevel, getSupportedThinkingLevels } from "./providers.ts";
import type { Model, ThinkingLevel } from "./providers.ts";
import type { SessionHooks } from "./session-hooks.ts";
import * as notices from "./session-notices.ts";

export interface SessionStateHost {
  readonly sessionManager: SessionManager;
  readonly registry: Pick<ModelRegistry, "find" | "hasVirtual" | "isVirtual" | "keyProblem" | "revision">;
  readonly hooks: Pick<SessionHooks, "emit" | "has">;
  emit(event: AgentSessionEvent): void;
  appended(entryId: string): void;
}

/** `cycle`: to the next one; `restore`: the path says so. */
export type SelectSource = HookEvent<"model_select">["source"];

/** The parts that the path alone decides; nothing of them is kept here. */
type PathPart = "serviceTier" | "mode" | "modeData" | "mcpToolSelection";

export class SessionState {
  readonly #host: SessionStateHost;
  readonly #toldModels = new Set<string>();
  /** As the listeners know them. */
  #told: Record<PathPart, string>;
  #model: Model | undefined;
  /** The registry's when it was last asked. */
  #revision: number;
  #thinkingLevel: ThinkingLevel;

  /** `model` and `thinkingLevel` hold where the path names none. */
  constructor(host: SessionStateHost, model: Model | undefined, thinkingLevel: ThinkingLevel) {
    this.#host = host;
    this.#model = model;
    this.#revision = host.registry.revision;
    this.#thinkingLevel = model === undefined ? thinkingLevel : clampThinkingLevel(model, thinkingLevel);
    this.#told = toldParts(this.#context);
  }

  get model(): Model | undefined {
    const { registry } = this.#host;
    // A provider was registered or taken away since: the same model may have another address or another window.
    if (this.#revision !== registry.revision && this.#model !== undefined)
      this.#model = registry.find(this.#model.provider, this.#model.id) ?? this.#model;
    this.#revision = registry.revision;
    return this.#model;
  }
  /** The model that has answered last, where the chosen one is virtual and it has answered on this path. */
  get answering(): Model | undefined {
    const { model } = this.#context;
    if (this.#model === undefined || !isVirtual(this.#model) || model === null) return this.model;
    const answered = this.#host.registry.find(model.provider, model.modelId);
    return answered === undefined || isVirtual(answered) ? this.model : answered;
  }
  get thinkingLevel(): ThinkingLevel {
    return this.#thinkingLevel;
  }
  /** What the path asks of each provider family; undefined: nothing. */
  get serviceTier(): ServiceTier | undefined {
    return this.#context.serviceTier;
  }
  /** "none" outside any mode. */
  get mode(): string {
    return this.#context.mode;
  }
  get modeData(): Record<string, unknown> | undefined {
    return this.#context.modeData;
  }
  /** Names of the MCP tools that were chosen; undefined: nobody has chosen on this path. */
  get mcpToolSelection(): readonly string[] | undefined {
    return this.#context.mcpToolSelection;
  }

  get #context(): ContextState {
    return this.#host.sessionManager.getContextState();
  }

  /** What the path says of the model: the choice of a virtual one holds, whoever has answered since. */
  get #recorded(): ContextState["model"] {
    const { sessionManager, registry } = this.#host;
    const { model } = this.#context;
    if (!registry.hasVirtual) return model;
    const index = sessionManager.getIndex();
    for (let n = index.leafOrdinal; n >= 0; n = index.parentOrdinal(n)) {
      if (index.kindAt(n) !== "model_change") continue;
      const entry = index.at(n);
      const chosen = entry.type === "model_change" ? modelOf(entry) : undefined;
      return chosen !== undefined && registry.isVirtual(chosen.provider, chosen.modelId) ? chosen : model;
    }
    return model;
  }

  /** The model, if it can be asked now; throws what is missing. */
  usableModel(): Model {
    const { model } = this;
    if (model === undefined) throw new Error(NO_MODEL);
    const keyProblem = this.#host.registry.keyProblem(model.provider);
    if (keyProblem !== undefined) throw new Error(keyProblem);
    return model;
  }

  /** Takes effect with the next request; recorded when it differs from what the path says. */
  setModel(model: Model, source: SelectSource = "set"): void {
    const keyProblem = this.#host.registry.keyProblem(model.provider);
    if (keyProblem !== undefined) throw new Error(keyProblem);
    const [oldModel, oldLevel] = [this.#model, this.#thinkingLevel];
    this.#model = model;
    this.#revision = this.#host.registry.revision;
    this.#thinkingLevel = clampThinkingLevel(model, oldLevel);
    this.record();
    this.#tellModel(oldModel, source);
    this.#tellLevel(oldLevel);
  }

  /** Sets the nearest level the model has. */
  setThinkingLevel(level: ThinkingLevel): void {
    const nearest = this.#model === undefined ? level : clampThinkingLevel(this.#model, level);
    const oldLevel = this.#thinkingLevel;
    if (nearest === oldLevel) return;
    this.#thinkingLevel = nearest;
    this.record();
    this.#tellLevel(oldLevel);
  }

  availableThinkingLevels(): ThinkingLevel[] {
    return this.#model === undefined ? [] : getSupportedThinkingLevels(this.#model);
  }

  /** null asks for nothing any more. */
  setServiceTier(tier: ServiceTier | null): void {
    this.#changed(this.#host.sessionManager.appendServiceTierChange(tier));
  }
  /** "none" leaves the mode. */
  setMode(mode: string, data?: Record<string, unknown>): void {
    this.#changed(this.#host.sessionManager.appendModeChange(mode, data));
  }
  setMcpToolSelection(names: readonly string[]): void {
    this.#changed(this.#host.sessionManager.appendMCPToolSelection([...names]));
  }

  /** Everything becomes what the path says; model and thinking level stay where it says nothing. */
  takeOver(): void {
    const { thinkingLevel } = this.#context;
    const recorded = this.#recorded;
    const [oldModel, oldLevel] = [this.#model, this.#thinkingLevel];
    if (recorded !== null) {
      const model = this.#host.registry.find(recorded.provider, recorded.modelId);
      if (model !== undefined) this.#model = model;
      else if (recorded.provider !== oldModel?.provider || recorded.modelId !== oldModel.id) {
        this.#tellUnusable(`${recorded.provider}/${recorded.modelId}`);
      }
    }
    const level = THINKING_LEVELS.find((known) => known === thinkingLevel);
    if (level !== undefined && (recorded !== null || this.#hasMessages())) this.#thinkingLevel = level;
    if (this.#model !== oldModel) this.#tellModel(oldModel, "restore");
    this.#tellLevel(oldLevel);
    this.#tellParts();
  }

  #tellModel(previousModel: Model | undefined, source: SelectSource): void {
    this.#host.emit({ type: "model_changed" });
    if (this.#model !== undefined)
      void this.#host.hooks.emit("model_select", { model: this.#model, previousModel, source });
  }
  #tellLevel(previousLevel: ThinkingLevel): void {
    const level = this.#thinkingLevel;
    if (level === previousLevel) return;
    this.#host.emit({ type: "thinking_level_changed", level });
    void this.#host.hooks.emit("thinking_level_select", { level, previousLevel });
  }

  #hasMessages(): boolean {
    return this.#host.sessionManager.getLatestMessages(1).messages.length > 0;
  }

  /** Appends what the path does not say yet about model and thinking level. */
  record(): void {
    const { sessionManager } = this.#host;
    if (sessionManager.isReadOnly()) return;
    const recorded = this.#context;
    const [model, chosen] = [this.#model, this.#recorded];
    if (model !== undefined && (chosen?.provider !== model.provider || chosen.modelId !== model.id))
      this.#host.appended(sessionManager.appendModelChange(model.provider, model.id));
    if (recorded.thinkingLevel !== this.#thinkingLevel)
      this.#host.appended(sessionManager.appendThinkingLevelChange(this.#thinkingLevel));
  }

  #changed(entryId: string): void {
    this.#host.appended(entryId);
    this.#tellParts();
  }

  #tellParts(): void {
    const context = this.#context;
    const [before, now] = [this.#told, toldParts(context)];
    this.#told = now;
    if (now.serviceTier !== before.serviceTier) this.#host.emit({ type: "service_tier_changed" });
    if (now.mode !== before.mode || now.modeData !== before.modeData)
      this.#host.emit({ type: "mode_changed", mode: context.mode });
    if (now.mcpToolSelection !== before.mcpToolSelection) this.#host.emit({ type: "tool_selection_changed" });
  }

  /** Once for each model, not at every jump. */
  #tellUnusable(name: string): void {
    const text = notices.modelNotUsable(name, this.#model?.name);
    if (this.#toldModels.has(text)) return;
    this.#toldModels.add(text);
    this.#host.emit({ type: "notice", level: "warning", text });
  }
}

const toldParts = ({ serviceTier, mode, modeData, mcpToolSelection }: ContextState): Record<PathPart, string> => ({
  serviceTier: JSON.stringify(serviceTier) ?? "",
  mode,
  modeData: JSON.stringify(modeData) ?? "",
  mcpToolSelection: JSON.stringify(mcpToolSelection) ?? "",
});
