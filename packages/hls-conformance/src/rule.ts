import type { Presentation } from './presentation.ts';

/**
 * How binding a rule is: `must` and `should` as in the standards (RFC 2119), `own` for rules that only Framelane has.
 */
export type Level = 'must' | 'should' | 'own';

/** One place where a rule is broken. */
export type Finding = {
  /** Which playlist, line or segment. */
  place: string;
  /** What is wrong, with the figures. */
  message: string;
};

/** The result of a rule. */
export type Verdict =
  | { outcome: 'passed'; figures?: string }
  | { outcome: 'failed'; findings: Finding[] }
  /** The presentation has nothing that the rule applies to, or it could not be measured. */
  | { outcome: 'not applicable'; reason: string };

/** Facts about the video from the service that made it. */
export type ServiceFacts = {
  /** The variants the API lists, e.g. `720p`. */
  variants?: readonly string[];
  /** The segments that are stored, e.g. `720p/0.ts`. */
  storedSegments?: readonly string[];
};

export type Rule = {
  /** Never changes its meaning: `<group>.<name>`. */
  id: `${string}.${string}`;
  level: Level;
  /** The section of the standard. */
  source: string;
  /** The rule in a sentence. */
  sentence: string;
  check(presentation: Presentation, facts: ServiceFacts): Verdict;
};

/** Failed if there are findings. */
export function judged(findings: readonly Finding[], figures?: string): Verdict {
  if (findings.length > 0) return { outcome: 'failed', findings: [...findings] };
  return figures === undefined ? { outcome: 'passed' } : { outcome: 'passed', figures };
}

export function notApplicable(reason: string): Verdict {
  return { outcome: 'not applicable', reason };
}

/** Checks each subject. Not applicable without subjects. */
export function judgeEach<Subject>(
  subjects: readonly Subject[],
  reasonIfNone: string,
  findings: (subject: Subject) => readonly Finding[],
): Verdict {
  return subjects.length === 0 ? notApplicable(reasonIfNone) : judged(subjects.flatMap(findings));
}

/** Names a segment by its media sequence number. */
export function segmentPlace(name: string, { sequence }: { sequence: number }): string {
  return `${name}, segment ${sequence}`;
}

export function linePlace(name: string, { line }: { line: number }): string {
  return `${name}, line ${line}`;
}
