import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft18 } from "./hostile-json.ts";

test("[F6, F8, T5] FT18 files made to harm end soon, take little memory and pollute nothing", () => runShort(ft18));
