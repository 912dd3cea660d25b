import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft15 } from "./foreign-hands.ts";

test("[W1, W3] FT15 nothing of other writers is overwritten, and nothing of our own is lost among theirs", () =>
  runShort(ft15));
