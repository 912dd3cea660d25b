/**
 * The head of the transcript: what session this is, what it cost, what is wrong with it.
 * Part of the page. Used by the page's element.
 */
import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import { oneLine } from "../../tree/one-line.ts";
import { lineText } from "./line-text.ts";
import type { PageFacts } from "./page-data.ts";

export function titleOf({ session }: PageFacts): string {
  return lineText(oneLine(session.name) || `Session ${oneLine(session.id)}`);
}

export function headView(facts: PageFacts): TemplateResult {
  const { session, usage, byModel } = facts;
  return html`<header class="head">
    <h1>${titleOf(facts)}</h1>
    <dl>
      ${fact("Folder", oneLine(session.cwd))} ${fact("Dates", datesOf(facts))} ${fact("Entries", countsOf(facts))}
      ${fact("Models", modelsOf(byModel))}
      ${fact("Tokens", `${number(usage.input)} in, ${number(usage.output)} out, ${number(usage.cacheRead)} from the cache, ${number(usage.cacheWrite)} into it`)}
      ${fact("Cost", `$${usage.cost.toFixed(3)} on all branches`)} ${fact("Id", oneLine(session.id))}
      ${fact("Comes from", oneLine(session.parentSession))} ${fact("Part", oneLine(facts.part))}
      ${fact("Masked", oneLine(facts.masked, 1000))}
    </dl>
    ${problemsView(facts)}
  </header>`;
}

function fact(name: string, value: string): TemplateResult | typeof nothing {
  return value === ""
    ? nothing
    : html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`;
}

const number = (value: number): string => value.toLocaleString("en");

function datesOf({ times, session, exported }: PageFacts): string {
  const [first, last] = [dateText(times?.first ?? Date.parse(session.created)), dateText(times?.last)];
  const span = last === "" || last === first ? first : `${first} to ${last}`;
  return `${span === "" ? "unknown" : span}, exported ${dateText(Date.parse(exported))}`;
}

export function dateText(time: number | undefined): string {
  if (time === undefined || Number.isNaN(time)) return "";
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

function countsOf({ entries, counts }: PageFacts): string {
  const { prompts, answers, toolResults } = counts;
  return `${number(entries)} (${number(prompts)} prompts, ${number(answers)} answers, ${number(toolResults)} tool results)`;
}

function modelsOf(byModel: PageFacts["byModel"]): string {
  return byModel
    .filter(([model]) => model !== "")
    .map(([model, sums]) => `${oneLine(model)} ($${sums.cost.toFixed(3)})`)
    .join(", ");
}

function problemsView({ problems, problemCount }: PageFacts): TemplateResult | typeof nothing {
  if (problemCount === 0) return nothing;
  const rest = problemCount - problems.length;
  return html`<details class="problems">
    <summary>${problemCount === 1 ? "1 problem" : `${number(problemCount)} problems`} in the file</summary>
    <ul>
      ${problems.map(({ text }) => html`<li>${text}</li>`)}
      ${rest > 0 ? html`<li>and ${number(rest)} more, which bough doctor names</li>` : nothing}
    </ul>
  </details>`;
}
