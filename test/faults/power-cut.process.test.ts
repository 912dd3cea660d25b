import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft7, ft8, ft9 } from "./power-cut.ts";

test("[W2, F6] FT7 what was flushed is there whatever else a power cut leaves of the file", () => runShort(ft7));

test("[W3, F6] FT8 of what was not flushed only an end is missing, and the session goes on", () => runShort(ft8));

test("[W1, W2] FT9 a disk that is gone for good is told, and nothing more is confirmed", () => runShort(ft9));
