import { test } from "node:test";
import { runShort } from "./fault-test.ts";
import { ft10, ft11, ft12 } from "./damage.ts";

test("[F6, W3] FT10 the beginnings of a file hold their complete lines, and go on", () => runShort(ft10));

test("[F6] FT11 a flipped bit costs no more than its lines", () => runShort(ft11));

test("[F6, W3] FT12 NUL tails, byte order marks, CRLF, blank and glued lines cost nothing else", () => runShort(ft12));
