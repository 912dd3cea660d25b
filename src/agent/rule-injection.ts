/**
 * `StreamRules`: what follows when a rule fits an answer: the answer is stopped, or completed, the rule is told to the
 * model on the answer's branch, and the model is asked again. A rule that the branch has been given stays silent there.
 * Part of `agent/`; AgentSession has one, its runs call it.
 */
import type { AgentEvent } from "@earendil-works/pi-agent-core";
import type { TtsrInjectionEntry } from "../tree/entries.ts";
import { RULE_REMINDER } from "../tree/row-text.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { Interruption } from "./agent-run.ts";
import type { AgentSessionEvent } from "./agent-session-events.ts";
import type { BranchWriter } from "./branch-writer.ts";
import { promptBlock } from "./prompt-block.ts";
import type { RuleScope, StreamRule } from "./rule-files.ts";
import * as notices from "./session-notices.ts";
import { RuleWatch } from "./stream-rules.ts";

/** Rules given in one run. Only rules that repeat can come to it, or a great many rules. */
const MAX_GIVEN = 10;

export interface StreamRulesHost {
  readonly sessionManager: SessionManager;
  readonly rules: readonly StreamRule[];
  emit(event: AgentSessionEvent): void;
  appended(entryId: string): void;
}

export class StreamRules {
  readonly #host: StreamRulesHost;
  readonly #slow = new Set<StreamRule>();
  #watch: RuleWatch | undefined;
  /** Fit the current answer, and are given when it is complete. */
  #waiting: StreamRule[] = [];
  #given = 0;

  #rules: readonly StreamRule[];

  constructor(host: StreamRulesHost) {
    this.#host = host;
    this.#rules = host.rules;
  }

  /** From the next answer on; what has been given stays given. */
  replace(rules: readonly StreamRule[]): void {
    this.#rules = rules;
  }

  /** A run begins. */
  begin(): void {
    this.#given = 0;
  }

  /** To be told of every event of a run, whose branch this is. */
  interruption(event: AgentEvent, branch: BranchWriter): Interruption | undefined {
    if (event.type === "message_start" && event.message.role === "assistant") {
      this.#waiting = [];
      this.#watch = this.#watchFor(branch.tail);
    }
    if (event.type !== "message_update" || this.#watch === undefined) return undefined;
    const found = this.#watch.see(event.assistantMessageEvent);
    if (found.length === 0) return undefined;
    this.#waiting.push(...found.map(({ rule }) => rule));
    if (!found.some(({ rule, stream }) => stops(rule, stream))) return undefined;
    const rules = this.#waiting.splice(0);
    this.#watch = undefined;
    return {
      reason: notices.stoppedByRules(rules.map(({ name }) => name)),
      stopped: (tail) => this.#give(rules, tail, true),
    };
  }

  /** An answer is complete, its results are written. "again": the model has been told something. */
  afterTurn(branch: BranchWriter): "again" | undefined {
    const rules = this.#waiting.splice(0);
    if (rules.length === 0) return undefined;
    this.#give(rules, branch, false);
    return "again";
  }

  #watchFor(tail: string | null): RuleWatch | undefined {
    const { sessionManager, emit } = this.#host;
    const rules = this.#rules;
    if (rules.length === 0) return undefined;
    if (this.#given >= MAX_GIVEN) {
      if (this.#given < Infinity) emit({ type: "notice", level: "warning", text: notices.RULES_REST });
      this.#given = Infinity;
      return undefined;
    }
    const injected = new Set(sessionManager.getContextState(tail).injectedTtsrRules);
    const armed = rules.filter(
      (rule) => !this.#slow.has(rule) && (!injected.has(rule.name) || this.#isDueAgain(rule, tail)),
    );
    return new RuleWatch({ rules: armed, cwd: sessionManager.getCwd(), onSlow: (rule) => this.#dropSlow(rule) });
  }

  /** Whether as many messages as the rule asks for have come since it was given. */
  #isDueAgain(rule: StreamRule, tail: string | null): boolean {
    if (rule.repeat === "once" || tail === null) return false;
    const index = this.#host.sessionManager.getIndex();
    let messages = 0;
    for (let n = index.ordinal(tail) ?? -1; n >= 0 && messages < rule.gap; n = index.parentOrdinal(n)) {
      if (index.kindAt(n) === "message") messages++;
      else if (index.kindAt(n) === "ttsr_injection") {
        const entry = index.at(n);
        if (entry.type === "ttsr_injection" && namesIn(entry).includes(rule.name)) return false;
      }
    }
    return true;
  }

  #dropSlow(rule: StreamRule): void {
    this.#slow.add(rule);
    this.#host.emit({ type: "notice", level: "warning", text: notices.ruleTooSlow(rule.name, rule.place) });
  }

  #give(rules: readonly StreamRule[], branch: BranchWriter, stopped: boolean): void {
    const names = rules.map(({ name }) => name);
    this.#given += rules.length;
    const ids = [
      branch.write((manager) => manager.appendTtsrInjection(names)),
      branch.write((manager) =>
        manager.appendCustomMessageEntry(RULE_REMINDER, ruleText(rules, stopped), false, { rules: names }),
      ),
    ];
    for (const id of ids) if (id !== undefined) this.#host.appended(id);
    this.#host.emit({ type: "ttsr_triggered", rules: names, stopped });
  }
}

/** Entries come from files. */
const namesIn = ({ injectedRules }: TtsrInjectionEntry): readonly string[] =>
  Array.isArray(injectedRules) ? injectedRules : [];

function stops({ interrupt }: StreamRule, stream: RuleScope["stream"]): boolean {
  return (
    interrupt === "always" ||
    (interrupt === "tool-only" && stream === "tool") ||
    (interrupt === "prose-only" && stream !== "tool")
  );
}

function ruleText(rules: readonly StreamRule[], stopped: boolean): string {
  const told = stopped
    ? "Your answer was stopped and is not part of this conversation: it went against a rule of the user's. Answer again, and keep to it:"
    : "Your last answer went against a rule of the user's. Put right what you can, and keep to it from now on:";
  return [told, ...rules.map(({ name, text }) => promptBlock("rule", { name }, text))].join("\n\n");
}
