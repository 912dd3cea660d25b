import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft1 } from "./kill.ts";

test("[W1, W3] FT1 killed while it writes, a program loses nothing that it confirmed", () => runShort(ft1));
