/** A heading of a version: `## [0.2.0] - 2026-12-01`. */
const HEADING = /^## \[(?<version>[^\]]+)\](?: - (?<date>\S+))?$/gm;

/** The sections of a changelog, newest first: `{ version, date, text }`. The first one is `Unreleased`, without a date. */
export function sections(changelog) {
  const headings = [...changelog.matchAll(HEADING)];
  return headings.map(({ 0: line, index, groups: { version, date } }, at) => {
    const text = changelog.slice(index + line.length, headings[at + 1]?.index).trim();
    return { version, date, text };
  });
}

/**
 * Gives the section `Unreleased` a version and a date (ISO 8601), and leaves an empty one above it. Throws if it has no changes. A changelog whose last version
 * this is already, without later changes, stays as it is.
 */
export function released(changelog, version, date) {
  const [unreleased, last] = sections(changelog);
  if (unreleased?.text === '' && last?.version === version) return changelog;
  if (unreleased?.version !== 'Unreleased' || !unreleased.text.startsWith('### '))
    throw new Error(
      'CHANGELOG.md has no unreleased changes: "## [Unreleased]" needs a heading below it, such as "### Added".',
    );
  if (last !== undefined && !isNewer(version, last.version))
    throw new Error(`${version} is not newer than ${last.version}, the last version in CHANGELOG.md.`);
  return changelog.replace('## [Unreleased]\n', () => `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

/** Whether a version of the form `1.2.3` is newer than another. */
export function isNewer(version, other) {
  const [parts, others] = [version, other].map((text) => text.split('.').map(Number));
  const at = parts.findIndex((part, index) => part !== others[index]);
  return at >= 0 && parts[at] > others[at];
}
