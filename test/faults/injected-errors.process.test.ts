import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft5, ft6, ft19 } from "./injected-errors.ts";

test("[W1] FT5 a write that fails changes nothing in memory, and the next one is fine", () => runShort(ft5));

test("[W2] FT6 once a sync has failed nothing is confirmed any more", () => runShort(ft6));

test("[W1, W2] FT19 an append is one write, a flush one fdatasync", () => runShort(ft19));
