// Emits dist/ (JavaScript and types) from src/, from nothing.
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";
import { root } from "./source-files.mjs";

rmSync(join(root, "dist"), { recursive: true, force: true });
if (!run("tsc", ["-b", "src", "src/export", "src/tui", "src/cli"])) process.exit(1);
await import("./build-page.mjs");
chmodSync(join(root, "dist/cli/main.js"), 0o755);
