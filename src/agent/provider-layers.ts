/**
 * `ProviderLayers`: the providers there are, and what extensions have put over them. For each id the library is given one
 * provider, made of all its layers, whenever one of them changes.
 * Part of `agent/`; ModelRegistry has one.
 */
import type { MutableModels, Provider } from "@earendil-works/pi-ai";
import { BUILT_IN_PROVIDERS } from "./providers.ts";
import type { Environment, Model } from "./providers.ts";
import { registeredProvider, wholeProvider } from "./registered-providers.ts";
import type { ProviderConfig, RegisteredProvider } from "./registered-providers.ts";
import { VirtualModels, isVirtual, withVirtual } from "./virtual-models.ts";
import type { VirtualModelDefinition } from "./virtual-models.ts";

export class ProviderLayers {
  readonly virtual = new VirtualModels();
  readonly #models: MutableModels;
  readonly #environment: Environment;
  /** Those that nobody has registered, by id. */
  readonly #base = new Map<string, Provider>();
  /** Built-in ones without a key, loaded because something is registered over them. */
  readonly #keyless = new Map<string, Provider>();
  /** In the order in which they lie over each other. */
  readonly #registered = new Map<string, readonly RegisteredProvider[]>();
  readonly #loading = new Set<Promise<void>>();
  #revision = 0;

  constructor(models: MutableModels, environment: Environment) {
    this.#models = models;
    this.#environment = environment;
  }

  /** Counts the changes. */
  get revision(): number {
    return this.#revision;
  }
  get registeredIds(): string[] {
    return [...this.#registered.keys()];
  }

  hasBase(id: string): boolean {
    return this.#base.has(id);
  }
  setBase(provider: Provider): void {
    this.#base.set(provider.id, provider);
    this.#compose(provider.id);
  }
  removeBase(id: string): void {
    this.#base.delete(id);
    this.#compose(id);
  }

  /** See `ModelRegistry.register`. */
  register(id: string, config: ProviderConfig): () => void {
    const remove = this.#register(registeredProvider(id, config, this.#environment));
    const known = BUILT_IN_PROVIDERS.find((builtIn) => builtIn.id === id);
    if (known !== undefined && !this.#base.has(id) && !this.#keyless.has(id))
      this.#await(id, async () => void this.#keyless.set(id, await known.load()));
    return remove;
  }
  registerWhole(provider: Provider): () => void {
    return this.#register(wholeProvider(provider, this.#environment));
  }

  /** See `ModelRegistry.registerVirtual`. */
  registerVirtual(definition: VirtualModelDefinition): () => void {
    const isTaken = (provider: string, id: string): boolean => {
      const existing = this.#models.getModel(provider, id);
      return existing !== undefined && !isVirtual(existing);
    };
    const model = this.virtual.add(definition, isTaken);
    this.#compose(model.provider);
    return () => {
      this.virtual.remove(model);
      this.#compose(model.provider);
    };
  }

  /** Whether a provider can be used, if it is decided here; `problem` says why not. */
  decisionOn(id: string): { problem: string | undefined } | undefined {
    const decider = this.#registered.get(id)?.findLast(({ keyProblem }) => keyProblem !== undefined);
    if (decider?.keyProblem !== undefined) return { problem: decider.keyProblem() };
    return this.#base.has(id) ? { problem: undefined } : undefined;
  }

  /** When everything registered so far is what it will be. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#loading);
  }

  #register(registration: RegisteredProvider): () => void {
    const { id, ready } = registration;
    this.#registered.set(id, [...(this.#registered.get(id) ?? []), registration]);
    this.#compose(id);
    if (ready !== undefined) this.#await(id, () => ready);
    return () => {
      const others = this.#registered.get(id)?.filter((other) => other !== registration) ?? [];
      if (others.length > 0) this.#registered.set(id, others);
      else this.#registered.delete(id);
      this.#compose(id);
    };
  }

  /** What fails leaves the provider as it is. */
  #await(id: string, work: () => Promise<void>): void {
    const loading = work()
      .catch(() => undefined)
      .then(() => {
        this.#compose(id);
        this.#loading.delete(loading);
      });
    this.#loading.add(loading);
  }

  #compose(id: string): void {
    const registered = this.#registered.get(id) ?? [];
    const base = this.#base.get(id) ?? (registered.length > 0 ? this.#keyless.get(id) : undefined);
    const physical = registered.reduce<Provider | undefined>((below, { over }) => over(below), base);
    const virtual: readonly Model[] = this.virtual.of(id);
    const provider = virtual.length > 0 ? withVirtual(id, physical, virtual) : physical;
    if (provider === undefined) this.#models.deleteProvider(id);
    else this.#models.setProvider(provider);
    this.#revision += 1;
  }
}
