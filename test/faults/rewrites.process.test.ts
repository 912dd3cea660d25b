import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft16 } from "./rewrites.ts";

test("[M2, T7] FT16 killed at each step of making a file: the old one or the new one is whole", () => runShort(ft16));
