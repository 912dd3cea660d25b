/** What the samples of a work say: the rows of the table, and who answered otherwise than bough. */
import { median } from "./child/measured.ts";
import { tenthOf, type Column } from "./rounds.ts";
import type { Figure, Work } from "./works.ts";

/** Of the samples of one column. */
export interface Spread {
  median: number;
  min: number;
  max: number;
  /** In the order they were taken. */
  samples: number[];
}
/** A spread, or why there is none. */
export type Measure = Spread | { why: string };

/** One row of the table. */
export interface Result {
  figure: Figure;
  bough: Measure | undefined;
  floor: Measure | undefined;
  pi: Measure | undefined;
  omp: Measure | undefined;
  /** At all entries over that at a tenth of them. */
  growth: number | undefined;
  floorGrowth: number | undefined;
}

/** A peer that answered otherwise than bough. */
export interface Difference {
  work: string;
  peer: string;
  answer: string;
  boughs: string;
}

export const resultsOf = ({ figures }: Work, columns: readonly Column[]): Result[] =>
  figures.map((figure, n) => {
    const of = (name: string): Measure | undefined => {
      const column = columns.find((candidate) => candidate.name === name);
      return column && measure(figure, column, n === 0);
    };
    return {
      figure,
      bough: of("bough"),
      floor: of("floor"),
      pi: of("pi"),
      omp: of("omp"),
      growth: ratio(of("bough"), of(tenthOf("bough"))),
      floorGrowth: ratio(of("floor"), of(tenthOf("floor"))),
    };
  });

function measure({ of }: Figure, { outcomes, why }: Column, isFirst: boolean): Measure {
  if (why !== undefined) return { why: isFirst ? why : "see above" };
  const numbers = outcomes.flatMap(({ figures }) => figures[of] ?? []);
  if (numbers.length === 0) return { why: "not measured" };
  return { median: median(numbers), min: Math.min(...numbers), max: Math.max(...numbers), samples: numbers };
}

/** How many times `other` is `one`; undefined unless both were measured. */
export const ratio = (one: Measure | undefined, other: Measure | undefined): number | undefined =>
  one === undefined || other === undefined || "why" in one || "why" in other ? undefined : one.median / other.median;

export function differencesIn(work: Work, columns: readonly Column[]): Difference[] {
  const answerOf = (name: string): string => columns.find((column) => column.name === name)?.outcomes[0]?.answer ?? "";
  const boughs = answerOf("bough");
  // Each program has a version of its own.
  if (boughs === "" || work.does === "version") return [];
  return ["pi", "omp"].flatMap((peer) => {
    const answer = answerOf(peer);
    return answer === "" || answer === boughs ? [] : [{ work: work.figures[0]?.text ?? "", peer, answer, boughs }];
  });
}
