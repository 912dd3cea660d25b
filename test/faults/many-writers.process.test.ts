import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft13 } from "./many-writers.ts";

test("[W1] FT13 four processes append to one file and every line is whole", () => runShort(ft13));
