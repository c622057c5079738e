/** The system programs that are missing in PATH, and their packages. */
export type MissingPrograms = {
  programs: string[];
  needed: string[];
  optional: string[];
  /** The family, such as `debian`; undefined if it is not known. */
  distribution: string | undefined;
};

/** What is missing. The sandbox of ffmpeg is optional if ENGINE_SANDBOX selects another one. */
export function missingPrograms(options: { forTests: boolean }): MissingPrograms;

/** What is missing, and how to install it. */
export function messageForMissing(missing: MissingPrograms): string;

/** Whether a program is in PATH. */
export function isInPath(program: string): boolean;
