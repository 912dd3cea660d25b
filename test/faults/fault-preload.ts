/**
 * Loaded into a program with `--import`: brings about the fault that `$BOUGH_FAULT` describes, see fault-plan.ts.
 */
import fs from "node:fs";
import { systemError, watchCalls } from "./disk-calls.ts";
import type { FaultPlan } from "./fault-plan.ts";

const plan = JSON.parse(process.env["BOUGH_FAULT"]!) as FaultPlan;
const log = plan.log === undefined ? undefined : fs.openSync(plan.log, "a");
const { writeSync } = fs;
let count = 0;
let halved = false;

const die = (): never => {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
};

watchCalls(plan.folder, {
  before(call) {
    if (log !== undefined) writeSync(log, `${call.name} ${call.path}\n`);
    if (plan.calls !== undefined && !plan.calls.includes(call.name)) return;
    if (halved) die();
    count++;
    const hit = count === plan.at || (plan.lasting === true && count > (plan.at ?? 0));
    if (!hit || plan.effect === undefined) return;
    if (plan.effect === "kill") die();
    if (plan.effect !== "kill-halfway") throw systemError(plan.effect, call.name);
    // Half of it reaches the file; the call for the rest ends the program.
    if (call.name !== "write" || (call.bytes?.length ?? 0) < 2) die();
    halved = true;
    return Math.floor(call.bytes!.length / 2);
  },
});
