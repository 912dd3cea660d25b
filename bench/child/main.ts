/** The program of one sample: `main.ts ENGINE OPERATION INPUT`, the input as JSON. Tells its outcome (measured.ts). */
import type { LoadEngine, Part } from "./engine.ts";
import { measured } from "./measured.ts";
import type { Input, Operation } from "./operations.ts";
import { OPERATIONS } from "./operations.ts";

const PARTS: ReadonlyMap<Operation, Part> = new Map([
  ["tree", "selector"],
  ["write", "pages"],
  ["mask", "pages"],
]);

const [name, operation, input] = process.argv.slice(2) as ["bough" | "pi" | "omp", Operation, string];
const { load } = (await import(`./${name}.ts`)) as { load: LoadEngine };
const engine = await load(PARTS.get(operation));
await measured(() => OPERATIONS[operation](engine, JSON.parse(input) as Input));
// Timers and watchers of a program measured must not keep the sample running.
process.exit();
