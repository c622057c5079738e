/** The first version with the security fixes in each maintained release line. Later lines have the fixes from the start. */
const FIRST_PATCHED: readonly (readonly [number, number, number])[] = [
  [7, 1, 5],
  [8, 0, 3],
  [8, 1, 3],
];

/** The version in the first line of `ffmpeg -version`, or null for builds from a commit. */
export function parseVersion(banner: string): string | null {
  return /^ffmpeg version n?(\d+(?:\.\d+){1,2})/.exec(banner)?.[1] ?? null;
}

/** Whether a version has the known security fixes. Distributions may add them to older versions. */
export function isPatched(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const line = FIRST_PATCHED.find(([lineMajor, lineMinor]) => lineMajor === major && lineMinor === minor);
  if (line) return patch >= line[2];
  const [newestMajor, newestMinor] = FIRST_PATCHED.at(-1) ?? [0, 0];
  return major > newestMajor || (major === newestMajor && minor > newestMinor);
}
