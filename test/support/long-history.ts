/**
 * A long session, made by a seeded driver: prompts, tools, jumps, compactions, forks, changes of model and protocol,
 * whatever a user and an erratic model do in weeks. Every request that leaves is checked for all three protocols.
 * For the tests of a long history.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentSession } from "../../src/agent/agent-session.ts";
import type { AgentSessionEvent } from "../../src/agent/agent-session-events.ts";
import { CompactionFailed } from "../../src/agent/compaction.ts";
import { SummaryFailedError } from "../../src/agent/jump-summary.ts";
import { ModelRegistry } from "../../src/agent/models.ts";
import { API_KINDS } from "../../src/agent/providers.ts";
import { requestMessages } from "../../src/agent/request.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { nextEvent } from "./agent-harness.ts";
import { erraticAnswer, erraticSummary, erraticTools, isWaiting, oddImage, oddText } from "./erratic-model.ts";
import { SeededRandom } from "./generate.ts";
import { checkLaws } from "./laws.ts";
import { startThreeProtocols } from "./three-protocols.ts";
import type { ThreeProtocols, WireAnswer, WireRequest } from "./three-protocols.ts";
import { requestFaults } from "./valid-request.ts";
import { PROTOCOLS, checkWire, modelOf, wireBody } from "./wire-rules.ts";

export interface LongHistoryOptions {
  seed: number;
  /** The session is done when it has as many. */
  entries: number;
  /** Empty. */
  folder: string;
}

export interface LongHistory {
  /** How often each thing was done, requests among them; failures under the name of the error. */
  counts: Map<string, number>;
  /** What was wrong with a request, or should not have happened. */
  faults: string[];
  /** Each entry of the session without what differs from run to run. */
  picture: unknown[];
}

/** Tokens; small, so that compactions are many. The library takes no smaller one than the first. */
const WINDOWS = [8_192, 16_000, 24_000];
const SYSTEM_PROMPT = "You are the agent of a long history.";
/** Of one prompt; a model that never stops is stopped. */
const MAX_REQUESTS = 12;

export async function makeLongHistory(options: LongHistoryOptions): Promise<LongHistory> {
  const driver = new Driver(options);
  return driver.run();
}

type Step = (this: Driver) => Promise<void> | void;

class Driver {
  readonly #options: LongHistoryOptions;
  readonly #random: SeededRandom;
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];
  #server!: ThreeProtocols;
  #registry!: ModelRegistry;
  #manager!: SessionManager;
  #session!: AgentSession;
  #path = "";
  #steps = 0;
  /** Of this step. */
  #requests = 0;
  /** What happens once while the step's prompt runs. */
  #during: { at: AgentSessionEvent["type"]; act: () => void } | undefined;

  constructor(options: LongHistoryOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
  }

  async run(): Promise<LongHistory> {
    const { folder, entries } = this.#options;
    this.#server = await startThreeProtocols((request) => this.#answer(request));
    try {
      this.#registry = await ModelRegistry.load({ stateDir: this.#writeModels(), environment: {} });
      this.#manager = SessionManager.create(folder, join(folder, "sessions"));
      this.#path = this.#manager.getSessionFile() as string;
      this.#open();
      while (this.#manager.getIndex().size < entries) await this.#step(this.#choose());
      await checkLaws(this.#manager);
      const picture = this.#picture();
      await this.#close();
      return { counts: this.#counts, faults: this.#faults, picture };
    } finally {
      await this.#server.close();
    }
  }

  #writeModels(): string {
    const stateDir = join(this.#options.folder, "state");
    mkdirSync(stateDir, { recursive: true });
    const providers = API_KINDS.map((api, n) => {
      const model = { id: "m", contextWindow: WINDOWS[n], maxTokens: 4_000, reasoning: true, input: ["text", "image"] };
      return [`p${n}`, { baseUrl: this.#server.url, api, models: [model] }];
    });
    writeFileSync(join(stateDir, "models.json"), JSON.stringify({ providers: Object.fromEntries(providers) }));
    return stateDir;
  }

  #open(): void {
    this.#session = new AgentSession({
      sessionManager: this.#manager,
      registry: this.#registry,
      model: this.#registry.find("p0", "m")!,
      tools: () => erraticTools(),
      systemPrompt: () => SYSTEM_PROMPT,
      plansDir: join(this.#options.folder, "plans"),
      retry: { enabled: true, maxRetries: 2, baseDelayMs: 1, maxDelayMs: 2 },
    });
    this.#session.subscribe((event) => this.#seen(event));
  }

  async #close(): Promise<void> {
    await this.#session.dispose();
    await this.#manager.close();
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** All but a prompt need entries. */
  #choose(): [name: string, step: Step] {
    if (this.#manager.getIndex().size === 0) return ["prompt", this.prompt];
    let at = this.#random.below(STEPS.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, step] of STEPS) if ((at -= weight) < 0) return [name, step];
    throw new Error("unreachable");
  }

  async #step([name, step]: [string, Step]): Promise<void> {
    this.#steps++;
    this.#requests = 0;
    this.#count(name);
    try {
      await step.call(this);
    } catch (error) {
      if (!isExpected(error)) throw new Error(`step ${this.#steps}, ${name}`, { cause: error });
      this.#count((error as Error).name === "Error" ? (error as Error).message : (error as Error).name);
    }
    // A compaction sends what was queued, and does not wait for the answer.
    if (this.#session.isStreaming) await nextEvent(this.#session, "agent_settled");
    this.#during = undefined;
  }

  // ── The model ──

  /** Of each request by itself: one that was stopped before it left must not shift all that follow. */
  async #answer(request: WireRequest): Promise<WireAnswer> {
    const n = this.#requests++;
    this.#count("request");
    await this.#check(request);
    const random = new SeededRandom(this.#options.seed * 7919 + this.#steps * 131 + n);
    random.below(2);
    const isMain = JSON.stringify(request.body).includes(SYSTEM_PROMPT);
    if (!isMain) return erraticSummary(random);
    if (n >= MAX_REQUESTS) return { text: ["Enough."] };
    const window = WINDOWS[API_KINDS.indexOf(request.api)]!;
    const answer = erraticAnswer(random, request, { window, isPlanning: this.#session.plan.isOn });
    if ("ending" in answer && answer.ending === "never")
      this.#during = { at: "message_update", act: () => this.#abort() };
    return answer;
  }

  async #check({ api, body }: WireRequest): Promise<void> {
    const where = `step ${this.#steps}, ${api}`;
    const own = PROTOCOLS.find((protocol) => protocol.api === api)!;
    await this.#noting(`${where}: as sent`, () => checkWire(own, body));
    if (!JSON.stringify(body).includes(SYSTEM_PROMPT)) return;
    const { messages } = this.#session;
    for (const protocol of PROTOCOLS) {
      if (protocol.api === "google-generative-ai") continue;
      const model = modelOf(protocol);
      const sent = requestMessages(messages, model);
      for (const fault of requestFaults(sent)) this.#faults.push(`${where}: for ${protocol.api}: ${fault}`);
      if (protocol !== own)
        await this.#noting(`${where}: for ${protocol.api}`, async () =>
          checkWire(protocol, await wireBody(protocol, sent, model)),
        );
    }
  }

  async #noting(where: string, check: () => void | Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      this.#faults.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  // ── The user ──

  #seen(event: AgentSessionEvent): void {
    if (event.type === "compaction_end" && event.result !== undefined) this.#count(`compacted: ${event.reason}`);
    if (event.type === "tool_execution_start" && isWaiting(event.args)) this.#abort();
    const during = this.#during;
    if (during?.at !== event.type) return;
    if (event.type === "message_update" && event.assistantMessageEvent.type !== "text_delta") return;
    this.#during = undefined;
    during.act();
  }

  #abort(): void {
    this.#count("abort");
    void this.#session.abort();
  }

  #anyEntry(): string {
    const index = this.#manager.getIndex();
    // Mostly where one was lately.
    const reach = this.#random.chance(70) ? Math.min(index.size, 60) : index.size;
    return index.idAt(index.size - 1 - this.#random.below(reach));
  }

  async prompt(): Promise<void> {
    const random = this.#random;
    if (random.chance(20)) this.#during = this.#interference();
    const text = `${this.#steps}: ${oddText(random, random.chance(5) ? 600 : 30)}`;
    await this.#session.prompt(text, random.chance(6) ? { images: [oddImage(random), oddImage(random)] } : {});
  }

  #interference(): { at: AgentSessionEvent["type"]; act: () => void } {
    const random = this.#random;
    const at = random.pick(["tool_execution_start", "turn_end", "message_start", "tool_execution_end"] as const);
    const text = oddText(random, 10) || "go on";
    const model = this.#registry.find(`p${random.below(3)}`, "m")!;
    const acts: (() => void)[] = [
      () => void this.#session.steer(text),
      () => void this.#session.followUp(text, [oddImage(random)]),
      () => this.#abort(),
      () => this.#session.setLabel(this.#manager.getLeafId()!, text),
      () => this.#session.setSessionName(text),
      () => this.#session.setModel(model),
      () => this.#session.plan.start(),
      () => this.#session.plan.stop(),
    ];
    return { at, act: random.pick(acts) };
  }

  async jump(): Promise<void> {
    const random = this.#random;
    const summarize = random.pick([false, false, true, "digest"] as const);
    const custom = random.chance(30) ? { customInstructions: oddText(random, 10) } : {};
    const replace = random.chance(20) ? { replaceInstructions: true } : {};
    const label = random.chance(20) ? { label: `kept ${this.#steps}` } : {};
    const target = this.#anyEntry();
    if (summarize === true && random.chance(10)) {
      const jump = this.#session.navigateTree(target, { summarize });
      this.#abort();
      await jump;
    } else await this.#session.navigateTree(target, { summarize, ...custom, ...replace, ...label });
  }

  async retrace(): Promise<void> {
    if (this.#random.chance(60)) await this.#session.back();
    else await this.#session.forward();
  }

  async compact(): Promise<void> {
    const random = this.#random;
    const focus = random.chance(30) ? { focus: oddText(random, 10) } : {};
    const review = random.pick([
      undefined,
      undefined,
      async () => undefined,
      async ({ summary }: { summary: string }) => `${summary}\n\ud83d edited`,
    ]);
    if (random.chance(10)) this.#during = { at: "compaction_start", act: () => this.#session.compaction.abort() };
    await this.#session.compact({ ...focus, digest: random.chance(25), ...(review === undefined ? {} : { review }) });
  }

  async uncompact(): Promise<void> {
    await this.#session.compaction.uncompact();
  }

  changeModel(): void {
    this.#session.setModel(this.#registry.find(`p${this.#random.below(3)}`, "m")!);
    if (this.#random.chance(30)) this.#session.setThinkingLevel(this.#random.pick(["off", "low", "high"]));
  }

  async plan(): Promise<void> {
    const { plan } = this.#session;
    if (!plan.isOn) plan.start();
    else if (plan.submitted !== undefined && this.#random.chance(60))
      await plan.approve(this.#random.pick(["keep", "compact"]));
    else plan.stop();
  }

  note(): void {
    const random = this.#random;
    const text = oddText(random, 8);
    const leaf = this.#manager.getLeafId();
    const notes: (() => unknown)[] = [
      () => leaf === null || this.#session.setLabel(this.#anyEntry(), random.chance(30) ? undefined : text),
      () => this.#session.setSessionName(text),
      () => this.#manager.appendCustomEntry("checklist", { done: random.below(9) }),
      () => this.#manager.appendCustomMessageEntry("hint", text, random.chance(50)),
      () => this.#manager.appendCustomMessageEntry("hint", [oddImage(random)], true),
      () => this.#session.state.setServiceTier(random.pick([null, { openai: "flex" }])),
      () => this.#session.state.setMcpToolSelection([`tool${random.below(3)}`]),
      () =>
        this.#manager.appendMessage({
          role: "bashExecution",
          command: `echo ${text}`,
          output: oddText(random, 200),
          exitCode: 0,
          cancelled: false,
          truncated: false,
          excludeFromContext: random.chance(20),
          timestamp: Date.now(),
        }),
    ];
    random.pick(notes)();
  }

  /** A copy of a branch, some work in it, and back. */
  async fork(): Promise<void> {
    const prompts = this.#session.getUserMessages();
    if (prompts.length === 0) return;
    if (this.#random.chance(50)) await this.#session.clone();
    else await this.#session.branch(this.#random.pick(prompts).entryId);
    for (let n = this.#random.below(3); n >= 0; n--)
      await this.#step(
        this.#random.pick([
          ["prompt", Driver.prototype.prompt] as const,
          ["compact", Driver.prototype.compact] as const,
        ]) as [string, Step],
      );
    await checkLaws(this.#manager);
    await this.#session.switchSession(this.#path);
  }

  async reopen(): Promise<void> {
    const before = this.#picture();
    const { messages } = this.#session;
    await this.#close();
    this.#manager = await SessionManager.open(this.#path);
    this.#open();
    assert.deepEqual(this.#picture(), before);
    assert.deepEqual(this.#session.messages, messages);
  }

  // ── What came of it ──

  #picture(): unknown[] {
    const index = this.#manager.getIndex();
    const ordinals = new Map(index.entries().map(({ id }, n) => [id, n]));
    return index.entries().map((entry, n) => {
      return JSON.stringify({ ...entry, id: n, timestamp: 0 }, (key, value: unknown) => {
        if (key === "timestamp" || key === "durationMs") return 0;
        if (typeof value !== "string") return value;
        return (
          ordinals.get(value) ?? value.replaceAll(this.#options.folder, "").replaceAll(this.#manager.getSessionId(), "")
        );
      });
    });
  }
}

const STEPS: readonly [weight: number, name: string, step: Step][] = [
  [60, "prompt", Driver.prototype.prompt],
  [14, "jump", Driver.prototype.jump],
  [5, "retrace", Driver.prototype.retrace],
  [4, "compact", Driver.prototype.compact],
  [2, "uncompact", Driver.prototype.uncompact],
  [6, "change of model", Driver.prototype.changeModel],
  [3, "plan", Driver.prototype.plan],
  [12, "note", Driver.prototype.note],
  [1, "fork", Driver.prototype.fork],
  [1, "reopen", Driver.prototype.reopen],
];

/** What a user is told, and goes on. */
const isExpected = (error: unknown): boolean =>
  error instanceof CompactionFailed ||
  error instanceof SummaryFailedError ||
  (error instanceof Error && /nothing to compact|already|too small|no compaction/i.test(error.message));
