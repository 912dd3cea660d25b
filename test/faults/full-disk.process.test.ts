import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft4 } from "./full-disk.ts";

test("[W1, W3] FT2 FT3 FT4 a disk that takes a part of a line and no more", () => runShort(ft4));
