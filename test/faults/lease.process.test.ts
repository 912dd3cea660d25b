import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft14 } from "./lease.ts";
import { missing } from "./means.ts";

test(
  "[W6] FT14 one owner at a time, whatever becomes of it and whatever the file is called",
  { skip: missing(ft14.short.needs) ?? false },
  () => runShort(ft14),
);
