import { nearestName } from '@framelane/service-kit/nearest-name';
import { type Finding, passed, warning } from './finding.ts';

/** Names of one word, such as HOME, are those of the system. */
const LIKE_A_SETTING = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;

/** More would take variables of other programs for settings. */
const TYPING_ERRORS = 2;

/** Variables of the environment that nothing reads, but that look like a setting. `known` are the names of all settings. */
export function unknownSettings(env: NodeJS.ProcessEnv, known: readonly string[]): Finding[] {
  const findings = Object.keys(env)
    .filter((name) => LIKE_A_SETTING.test(name) && !known.includes(name))
    .sort()
    .flatMap((name) => {
      const nearest = nearestName(
        name,
        known.filter((each) => each.includes('_')),
        () => TYPING_ERRORS,
      );
      return nearest === undefined
        ? []
        : [warning('Settings', `${name} is not a setting`, `Did you mean ${nearest}? If not, ignore this.`)];
    });
  return findings.length === 0 ? [passed('Settings', 'all are known and valid')] : findings;
}
