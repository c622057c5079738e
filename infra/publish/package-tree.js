import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Lays out the package in `folder` and its installed production dependencies as npm would: below one node_modules, as high as their
 * versions allow. Returns them, the package itself first, with the path that each gets, such as
 * `node_modules/express/node_modules/debug`, the installed folder, and the installed folder of each dependency by name. Packages for
 * which `isLeftOut` is true are not visited.
 */
export function packageTree(folder, isLeftOut = () => false) {
  /** The installed folder at each path. */
  const placed = new Map();
  const packages = [];
  // Level by level, so that a package never moves in between another one and what that one has found already.
  let level = [{ path: '', source: realpathSync(folder) }];
  while (level.length > 0) {
    const next = [];
    for (const { path, source } of level) {
      const dependencies = installedDependencies(source, isLeftOut);
      packages.push({ path, source, dependencies });
      for (const [name, found] of Object.entries(dependencies)) {
        if (visibleFrom(path, name, placed) === found) continue;
        const place = placeOf(path, name, placed);
        placed.set(place, found);
        next.push({ path: place, source: found });
      }
    }
    level = next;
  }
  return packages;
}

/** The installed folders of the dependencies of a package, by name. */
function installedDependencies(source, isLeftOut) {
  const names = dependencyNames(source).filter((name) => !isLeftOut(name));
  const folders = names.map((name) => [name, installedFolder(name, source)]);
  return Object.fromEntries(folders.filter(([, found]) => found !== undefined));
}

/** Everything that is in use at run time, peers included. */
function dependencyNames(source) {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  return Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  }).sort();
}

/** Undefined if it is not installed: an optional package, or one that an override in pnpm-workspace.yaml removes. */
function installedFolder(name, dependant) {
  try {
    const manifest = findPackageJSON(name, pathToFileURL(join(dependant, 'package.json')));
    return manifest && dirname(realpathSync(manifest));
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** What Node finds for a name in the package at a path: the nearest one, upwards. */
function visibleFrom(path, name, placed) {
  for (const parent of upwards(path)) {
    const found = placed.get(join(parent, 'node_modules', name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The top, unless another version of the package is there or in between. */
function placeOf(path, name, placed) {
  const isTaken = visibleFrom(path, name, placed) !== undefined;
  return join(isTaken ? path : '', 'node_modules', name);
}

/** The path of a package, those of the packages around it, and the top. */
function upwards(path) {
  const parts = path.split(/(?=node_modules\/)/);
  return parts
    .map((_, at) =>
      parts
        .slice(0, parts.length - at)
        .join('')
        .replace(/\/$/, ''),
    )
    .concat('');
}
