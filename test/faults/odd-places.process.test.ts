import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft17 } from "./odd-places.ts";

test("[F7, W1, T7] FT17 read-only, without descriptors, vanished, with a clock that goes back", () => runShort(ft17));
