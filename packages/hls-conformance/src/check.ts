import { type LoadOptions, loadPresentation } from './load-presentation.ts';
import type { Presentation } from './presentation.ts';
import { type Level, notApplicable, type Rule, type ServiceFacts, type Verdict } from './rule.ts';
import { deviation, isAsked, type Profile, RULES } from './rules.ts';

export type CheckOptions = Omit<LoadOptions, 'askAboutDelivery'> & {
  profile?: Profile;
  /** What is known of the video from elsewhere. */
  facts?: ServiceFacts;
};

export type RuleResult = Omit<Rule, 'check'> & Verdict;

/** What came of a check. Holds no secret: addresses are without their queries. */
export type Report = {
  address: string;
  profile: Profile;
  results: RuleResult[];
  /** What the presentation has that was not looked at. */
  notes: string[];
};

/**
 * Fetches a presentation, measures it, and holds it to the rules of a profile (`standard` unless told otherwise). Throws a
 * NotAPlaylist when there is nothing to check at the address.
 */
export async function checkStream(
  url: string,
  { profile = 'standard', facts = {}, ...options }: CheckOptions = {},
): Promise<{ report: Report; presentation: Presentation }> {
  const presentation = await loadPresentation(url, { ...options, askAboutDelivery: profile === 'framelane' });
  return { report: judge(presentation, profile, facts), presentation };
}

/** Holds a loaded presentation to the rules of a profile. */
export function judge(presentation: Presentation, profile: Profile, facts: ServiceFacts = {}): Report {
  const results = RULES.filter((rule) => isAsked(rule, profile)).map(({ check, ...rule }) => {
    const reason = deviation(rule, profile);
    const verdict =
      reason === undefined ? check(presentation, facts) : notApplicable(`deviates on purpose: ${reason}`);
    return { ...rule, ...verdict };
  });
  const { origin, pathname } = new URL(presentation.url);
  return { address: `${origin}${pathname}`, profile, results, notes: presentation.notes };
}

/** The rules of some levels that are broken. */
export function failures({ results }: Report, levels: readonly Level[]): RuleResult[] {
  return results.filter(({ outcome, level }) => outcome === 'failed' && levels.includes(level));
}

/** The broken rules of some levels in words, one line a finding; empty when there are none. For tests. */
export function violations(report: Report, levels: readonly Level[] = ['must', 'own']): string[] {
  return failures(report, levels).flatMap((result) =>
    result.outcome === 'failed'
      ? result.findings.map(({ place, message }) => `${result.id}: ${place}: ${message}`)
      : [],
  );
}
