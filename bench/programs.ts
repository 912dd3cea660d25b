/** The programs that are measured, as commands: a sample of the engine's work, `--version`, and a resumed terminal. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPeers, OMP_VERSION, PI_VERSION } from "./peers.ts";

export interface Program<Name extends string = "bough" | "pi" | "omp"> {
  name: Name;
  /** With its version, for the table's head. */
  title: string;
  runtime: string;
  /** The file its command starts. */
  command: string;
  /** Arguments of the command that opens a session file in the terminal. */
  resume(file: string): string[];
  /** Of its packages; bough's is its own. */
  modules: string;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const CHILD = here("child/main.ts");
export const floorProgram = (name: string): string => here(`floors/${name}.ts`);

export function bough(): Program<"bough"> {
  return {
    name: "bough",
    title: "bough",
    runtime: process.execPath,
    command: here("../dist/cli/main.js"),
    resume: (file) => ["--session", file],
    modules: "",
  };
}

export function peers(): Program<"pi" | "omp">[] {
  const modules = installPeers();
  return [
    {
      name: "pi",
      title: `pi ${PI_VERSION}`,
      runtime: join(modules.pi, ".bin/node"),
      command: join(modules.pi, "@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
      resume: (file) => ["--session", file, "--offline"],
      modules: modules.pi,
    },
    {
      name: "omp",
      title: `omp ${OMP_VERSION}`,
      runtime: join(modules.omp, ".bin/bun"),
      command: join(modules.omp, "@oh-my-pi/pi-coding-agent/dist/cli.js"),
      resume: (file) => ["--resume", file],
      modules: modules.omp,
    },
  ];
}

/** Why a program cannot be started at all; undefined when it can. */
export function missing({ title, runtime, command }: Program): string | undefined {
  const absent = [runtime, command].find((path) => !existsSync(path));
  return absent === undefined ? undefined : `${title} could not be installed or built: ${absent} is missing`;
}
