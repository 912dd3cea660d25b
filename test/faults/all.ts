/**
 * All fault tests, in the order of their numbers; for scripts/test-faults.mjs.
 */
import { ft10, ft11, ft12 } from "./damage.ts";
import type { FaultTest } from "./fault-test.ts";
import { ft15 } from "./foreign-hands.ts";
import { ft2, ft3, ft4 } from "./full-disk.ts";
import { ft18 } from "./hostile-json.ts";
import { ft5, ft6, ft19 } from "./injected-errors.ts";
import { ft1 } from "./kill.ts";
import { ft14 } from "./lease.ts";
import { ft13 } from "./many-writers.ts";
import { ft17 } from "./odd-places.ts";
import { ft7, ft8, ft9 } from "./power-cut.ts";
import { ft16 } from "./rewrites.ts";

export const faultTests: readonly FaultTest[] = [
  ft1,
  ft2,
  ft3,
  ft4,
  ft5,
  ft6,
  ft7,
  ft8,
  ft9,
  ft10,
  ft11,
  ft12,
  ft13,
  ft14,
  ft15,
  ft16,
  ft17,
  ft18,
  ft19,
];
