/** An idempotent change to one file that can be taken back. Constructors: `ownFile`, `jsonFile`, … */
export interface FileEdit {
  /** Absolute. */
  readonly path: string
  /** The whole file is ours: a file of that name that we did not write is not touched. */
  readonly own?: boolean | undefined
  /**
   * The text with our part in it; the same text when it already has it.
   *
   * @param text the file's text, or `null` when there is no file
   * @throws CannotEdit when the text does not parse or has no place for our part
   */
  add(text: string | null): string
  /** The text without our part; `null` when nothing else is in the file. */
  remove(text: string): string | null
  /** The content of a file that stays although nothing else is in it. Default: an empty text. */
  readonly empty?: string | undefined
  /** What a person can put into the file by hand when the edit is refused. */
  readonly byHand: string
}

/** The file cannot be edited safely, so it is left alone. */
export class CannotEdit extends Error {
  override readonly name = 'CannotEdit'
}

/** The refusal to replace something that has our name but is not ours. */
export const anothers = (name: string): CannotEdit =>
  new CannotEdit(`'${name}' in it is not ours: rename it and run this again, or give ours another name`)

/** The machine as installers see it. */
export interface Surroundings {
  home: string
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  exists(path: string): boolean
  /** `null` when there is no such file, or it cannot be read. */
  readText(path: string): string | null
}

/** The settings that an installation wires into a host. */
export interface Wiring {
  /** The command that starts `recall`, for example `['recall']`. */
  command: readonly string[]
  version: string
  /** Folder of the memory, absolute. */
  root: string
  /** Its files, absolute. */
  files: { curated: string; window: string; archives: string }
  /** Also look up every prompt in memory. */
  recallPrompts: boolean
  /** Empty the window once a session has been given it. */
  consume: boolean
}

/**
 * One host agent. This is also the interface of custom targets: a module that exports a `target` of this
 * shape can be named in place of a built-in one.
 */
export interface Target {
  /** As in `--target <name>`: letters, digits and hyphens. */
  readonly name: string
  /** For people. */
  readonly title: string
  /** Where commands of the host keep the echoes of a project, relative to it. Only read for built-in targets. */
  readonly echoes?: string | undefined
  /** Whether the host is on this machine. */
  isInstalled(machine: Surroundings): boolean
  /** The changes to make, starting with files that others refer to. They are taken back in reverse order. */
  edits(machine: Surroundings, wiring: Wiring): readonly FileEdit[]
  /** What the person still has to do or should know. */
  notes?(machine: Surroundings, wiring: Wiring): readonly string[]
}
