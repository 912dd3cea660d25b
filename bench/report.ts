/** What the bench says: a Markdown table on standard output, everything in a JSON file. */
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { ratio, type Difference, type Measure, type Result } from "./results.ts";
import type { Figure, Goal } from "./works.ts";

export interface Report {
  date: string;
  command: string;
  machine: Machine;
  /** Of each figure. */
  samples: number;
  /** With or without a network. */
  terminals: string;
  loadBefore: number;
  loadAfter: number;
  results: Result[];
  differences: Difference[];
}

export interface Machine {
  cores: number;
  processor: string;
  memoryGiB: number;
  system: string;
  node: string;
}

/** A peer's column. */
export interface PeerHead {
  name: "pi" | "omp";
  title: string;
}

/** Programs running on average over the last minute. */
export const load = (): number => loadavg()[0] as number;

export const machine = (): Machine => ({
  cores: cpus().length,
  processor: cpus()[0]?.model ?? "unknown processor",
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.versions.node,
});

/** The table with the conditions above it and, below, who did not do the same as bough. */
export function markdown(report: Report, peers: readonly PeerHead[]): string {
  const { cores, processor, memoryGiB, system, node } = report.machine;
  const names = peers.map(({ name }) => name);
  const heads = ["", "work", "bough", "floor", "× floor", "goal", ...peers.map(({ title }) => title), "growth"];
  const lines = [
    `\`${report.command}\`, ${report.date}: ${cores} × ${processor}, ${memoryGiB} GiB, ${system}, Node ${node}; load`,
    `average ${report.loadBefore.toFixed(1)} before and ${report.loadAfter.toFixed(1)} after; terminals ${report.terminals}.`,
    `Medians of ${report.samples} samples, the best in brackets; a peer's bracket: how many times bough's, bold where bough is behind.`,
    "Growth: bough's figure over that at a tenth of the entries (the floor's).",
    "",
    tableRow(heads),
    tableRow(heads.map((_, column) => (column < 2 ? "---" : "---:"))),
    ...report.results.map((result) => tableRow(cells(result, names))),
  ];
  if (report.differences.length > 0) lines.push("", "Answers that differ from bough's:");
  for (const { work, peer, answer, boughs } of report.differences)
    lines.push(`- ${work}: ${peer} ${answer}, bough ${boughs}`);
  return `${lines.join("\n")}\n`;
}

const tableRow = (parts: readonly string[]): string => `| ${parts.join(" | ")} |`;

function cells(result: Result, peers: readonly PeerHead["name"][]): string[] {
  const { figure, bough, floor, growth, floorGrowth } = result;
  const timesFloor = ratio(bough, floor);
  return [
    figure.id ?? "",
    figure.text,
    spread(bough, figure),
    spread(floor, figure),
    times(timesFloor),
    goalCell(figure, bough, timesFloor),
    ...peers.map((peer) => middle(result[peer], figure) + bracket(timesBough(ratio(result[peer], bough)))),
    (times(growth) + bracket(times(floorGrowth))).trim(),
  ];
}

function goalCell({ goal, unit }: Figure, bough: Measure | undefined, timesFloor: number | undefined): string {
  if (goal === undefined) return "";
  const text = "timesFloor" in goal ? `≤ ${goal.timesFloor} ×` : `≤ ${amount(goal.atMost, unit)}`;
  const met = isMet(goal, bough, timesFloor);
  return met === undefined ? text : `${text} ${met ? "met" : "**missed**"}`;
}

function isMet(goal: Goal, bough: Measure | undefined, timesFloor: number | undefined): boolean | undefined {
  if ("timesFloor" in goal) return timesFloor === undefined ? undefined : timesFloor <= goal.timesFloor;
  return bough === undefined || "why" in bough ? undefined : bough.median <= goal.atMost;
}

function spread(measure: Measure | undefined, figure: Figure): string {
  const best = measure === undefined || "why" in measure ? "" : amount(measure.min, figure.unit);
  return middle(measure, figure) + bracket(best);
}

function middle(measure: Measure | undefined, { unit }: Figure): string {
  if (measure === undefined) return "";
  // A reason may be the last words of a program.
  return "why" in measure
    ? measure.why.replaceAll("|", "\\|").replaceAll("\n", " ").slice(0, 200)
    : amount(measure.median, unit);
}

const bracket = (text: string): string => (text === "" ? "" : ` (${text})`);

const times = (value: number | undefined): string => (value === undefined ? "" : `${twoDigits(value)} ×`);

/** In bold where bough is behind. */
const timesBough = (value: number | undefined): string =>
  value !== undefined && value < 1 ? `**${times(value)}**` : times(value);

/** "12 µs", "0.31 ms", "2,867 ms", "254 MiB", "0.21 ×". */
function amount(value: number, unit: Figure["unit"]): string {
  if (unit === "share") return times(value);
  if (unit === "memory") return `${Math.round(value).toLocaleString("en")} MiB`;
  return value < 0.1 ? `${twoDigits(value * 1000)} µs` : `${twoDigits(value)} ms`;
}

/** Two digits that count, or whole numbers above ten. */
const twoDigits = (value: number): string =>
  value >= 10 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
