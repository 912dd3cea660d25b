/** The samples of one work: in each round every column once, so that what disturbs the machine disturbs all of them. */
import type { Outcome } from "./child/measured.ts";
import { makeFiles, warm, type MadeFiles } from "./files.ts";
import { missing, type Program } from "./programs.ts";
import type { Doer, Sampler } from "./samples.ts";
import type { Work } from "./works.ts";

/** A doer at one size, with what its samples said so far. */
export interface Column {
  name: string;
  doer: Doer;
  made: MadeFiles | undefined;
  outcomes: Outcome[];
  /** Why it takes part no longer. */
  why: string | undefined;
}

/** Name of the column of the same doer with a tenth of the entries. */
export const tenthOf = (name: string): string => `${name}, a tenth`;

/** Samples all columns of a work; one that fails says why and is left out from then on. */
export async function sampledColumns(
  work: Work,
  programs: readonly Program[],
  sampler: Sampler,
  samples: number,
): Promise<Column[]> {
  const columns = columnsOf(work, programs);
  // Nobody's first run counts: it finds files, modules and compiled code cold.
  await round(work, columns, sampler, 0, "warming up");
  for (const column of columns) column.outcomes = [];
  for (let n = 0; n < samples; n++) await round(work, columns, sampler, n, `sample ${n + 1} of ${samples}`);
  return columns;
}

function columnsOf(work: Work, programs: readonly Program[]): Column[] {
  const made = work.files && makeFiles(work.files);
  const tenth = work.tenth && makeFiles(work.tenth);
  for (const files of [made, tenth]) if (files) warm(files);
  const doers: [string, Doer][] =
    work.does === "floor" ? [] : takingPart(work, programs).map((program) => [program.name, program]);
  if (work.floor !== undefined) doers.push(["floor", "floor"]);
  return doers.flatMap(([name, doer]) => {
    const why = doer === "floor" ? undefined : missing(doer);
    const whole: Column = { name, doer, made, outcomes: [], why };
    const isOwn = name === "bough" || name === "floor";
    return isOwn && tenth ? [whole, { ...whole, name: tenthOf(name), made: tenth, outcomes: [] }] : [whole];
  });
}

const takingPart = ({ ownAlone }: Work, programs: readonly Program[]): readonly Program[] =>
  ownAlone ? programs.filter(({ name }) => name === "bough") : programs;

async function round(work: Work, columns: readonly Column[], sampler: Sampler, first: number, stage: string) {
  const tell = (column: Column, text: string): void => {
    process.stderr.write(`${work.figures[0]?.id ?? "-"} ${work.does}, ${stage}, ${column.name}: ${text}\n`);
  };
  for (let n = 0; n < columns.length; n++) {
    // Another one goes first each time.
    const column = columns[(first + n) % columns.length] as Column;
    if (column.why !== undefined) continue;
    try {
      const outcome = await sampler.sample(work, column.doer, column.made);
      column.outcomes.push(outcome);
      tell(column, JSON.stringify(outcome.figures));
    } catch (error) {
      column.why = error instanceof Error ? error.message : String(error);
      tell(column, column.why);
    }
  }
}
