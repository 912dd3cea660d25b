/**
 * `npm run bench` and `npm run bench:peers`: measures the rows of SPEC.md's section on speed. See README.md beside.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { scratchFolder } from "./cache.ts";
import { bough, peers as installedPeers } from "./programs.ts";
import { load, machine, markdown, type Report } from "./report.ts";
import { differencesIn, resultsOf } from "./results.ts";
import { sampledColumns } from "./rounds.ts";
import { Sampler } from "./samples.ts";
import { networkCondition } from "./terminal.ts";
import { WORKS, type Work } from "./works.ts";

const USAGE = `node bench/main.ts [--peers] [--quick | --samples N] [--large] [--only Y1,Y5] [--json FILE]

  --peers      pi and omp as well; they are installed into the cache at the first run
  --samples N  of each figure, 5 unless told otherwise; --quick is 2
  --large      the rows with 1,000,000 entries as well
  --only IDS   only the works with these rows
  --json FILE  everything that was measured, as JSON
`;

const { values: options } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    samples: { type: "string" },
    large: { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

async function measure(): Promise<void> {
  const samples = Number(options.samples ?? (options.quick ? 2 : 5));
  if (!Number.isInteger(samples) || samples < 1) throw new Error("--samples takes a whole number from 1 on.");
  const peers = options.peers ? installedPeers() : [];
  const sampler = new Sampler(scratchFolder());
  const report: Report = {
    date: new Date().toISOString().slice(0, 10),
    command: commandLine(),
    machine: machine(),
    samples,
    terminals: networkCondition,
    loadBefore: load(),
    loadAfter: Number.NaN,
    results: [],
    differences: [],
  };
  for (const work of WORKS.filter(isWanted)) {
    const columns = await sampledColumns(work, [bough(), ...peers], sampler, samples);
    report.results.push(...resultsOf(work, columns));
    report.differences.push(...differencesIn(work, columns));
  }
  report.loadAfter = load();
  process.stdout.write(markdown(report, peers));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 1)}\n`);
}

function isWanted({ figures, large }: Work): boolean {
  if (options.only === undefined) return options.large || large !== true;
  const ids = options.only.split(",");
  return figures.some(({ id }) => id !== undefined && ids.includes(id));
}

/** As the user would type it again. */
function commandLine(): string {
  const script = process.env["npm_lifecycle_event"];
  if (script === undefined) return ["node", "bench/main.ts", ...process.argv.slice(2)].join(" ");
  const rest = process.argv.slice(2).filter((argument) => argument !== "--peers");
  return ["npm run", script, ...(rest.length > 0 ? ["--", ...rest] : [])].join(" ");
}

if (options.help) process.stdout.write(USAGE);
else await measure();
