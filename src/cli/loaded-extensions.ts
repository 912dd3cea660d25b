/**
 * The extensions of a run, as the modes have them. Part of `cli/`; load-extensions.ts makes it.
 */
import type { CreateAgentSessionOptions } from "../agent/create-agent-session.ts";
import type { ModelRegistry } from "../agent/models.ts";
import type { Settings } from "../agent/settings.ts";
import type { ProjectTrust } from "../agent/trust.ts";
import type { ExtensionHost } from "../extensions/host.ts";
import { parseCommand } from "../tui/builtin-registry.ts";

/** What extensions reach of the mode that runs. */
export interface ModeFace {
  tell(level: "warning" | "error", text: string): void;
  /** An extension wants to leave. */
  shutdown(): void;
  /** There are other commands than before. */
  changed(): void;
}

/** What the extensions of a run are looked for and loaded with. */
export interface ExtensionPlace {
  cwd: string;
  stateDir: string;
  project: ProjectTrust;
  settings: Settings;
  registry: ModelRegistry;
}

export class LoadedExtensions {
  readonly host: ExtensionHost;
  /** Said before the mode shows itself. */
  readonly #early: { level: "warning" | "error"; text: string }[] = [];
  #face: ModeFace | undefined;
  #place: ExtensionPlace;

  /** `make` is given what the host tells and asks. */
  constructor(place: ExtensionPlace, make: (face: ModeFace, current: () => ExtensionPlace) => ExtensionHost) {
    this.#place = place;
    const face: ModeFace = {
      tell: (level, text) => {
        if (this.#face === undefined) this.#early.push({ level, text });
        else this.#face.tell(level, text);
      },
      shutdown: () => this.#face?.shutdown(),
      changed: () => this.#face?.changed(),
    };
    this.host = make(face, () => this.#place);
  }

  /** What counts from the next loading on, such as whether the project is trusted. */
  settle(place: ExtensionPlace): void {
    this.#place = place;
    this.host.trust(place.project);
  }

  /** The mode is there. */
  face(face: ModeFace): void {
    this.#face = face;
    for (const problem of this.host.problems) face.tell("warning", problem);
    for (const { level, text } of this.#early.splice(0)) face.tell(level, text);
  }

  get sessionOptions(): Pick<CreateAgentSessionOptions, "hooks" | "extendTools" | "toolNotes"> {
    const { host } = this;
    return {
      hooks: host,
      extendTools: (tools) => host.tools.merged(tools),
      toolNotes: (tools) => host.tools.promptNotes(tools),
    };
  }

  /** Runs what is typed as a command of an extension; false when it is none. */
  async runCommand(text: string): Promise<boolean> {
    const command = parseCommand(text.trim());
    return command !== undefined && this.host.runCommand(command.name, command.argument);
  }
}
