import { type LoadOptions, loadPresentation } from './load-presentation.ts';
import type { Presentation } from './presentation.ts';
import { type Level, notApplicable, type Rule, type ServiceFacts, type Verdict } from './rule.ts';
import { appliesTo, deviation, type Profile, RULES } from './rules.ts';

export type CheckOptions = Omit<LoadOptions, 'playbackRequests'> & {
  profile?: Profile;
  /** Facts from other sources, such as the API. */
  facts?: ServiceFacts;
};

export type RuleResult = Omit<Rule, 'check'> & Verdict;

/** The result of a check. Contains no secrets: URLs have no query. */
export type Report = {
  address: string;
  profile: Profile;
  results: RuleResult[];
  /** Parts of the presentation that were not checked. */
  notes: string[];
};

/**
 * Fetches a presentation, measures it and checks the rules of a profile (default `standard`). Throws a NotAPlaylistError if the
 * URL does not return a playlist.
 */
export async function checkStream(
  url: string,
  { profile = 'standard', facts = {}, ...options }: CheckOptions = {},
): Promise<{ report: Report; presentation: Presentation }> {
  const presentation = await loadPresentation(url, { ...options, playbackRequests: profile === 'framelane' });
  return { report: judge(presentation, profile, facts), presentation };
}

/** Checks a loaded presentation against the rules of a profile. */
export function judge(presentation: Presentation, profile: Profile, facts: ServiceFacts = {}): Report {
  const results = RULES.filter((rule) => appliesTo(rule, profile)).map(({ check, ...rule }) => {
    const reason = deviation(rule, profile);
    const verdict =
      reason === undefined
        ? check(presentation, facts)
        : notApplicable(`Framelane deviates on purpose: ${reason}`);
    return { ...rule, ...verdict };
  });
  const { origin, pathname } = new URL(presentation.url);
  return { address: `${origin}${pathname}`, profile, results, notes: presentation.notes };
}

/** The broken rules of these levels. */
export function failures({ results }: Report, levels: readonly Level[]): RuleResult[] {
  return results.filter(({ outcome, level }) => outcome === 'failed' && levels.includes(level));
}

/** The findings of the broken rules of these levels, one line each. Empty if none is broken. For tests. */
export function violations(report: Report, levels: readonly Level[] = ['must', 'own']): string[] {
  return failures(report, levels).flatMap((result) =>
    result.outcome === 'failed'
      ? result.findings.map(({ place, message }) => `${result.id}: ${place}: ${message}`)
      : [],
  );
}
