import type { Presentation } from './presentation.ts';

/**
 * How binding a rule is: `must` and `should` as the standards have it (RFC 2119), `own` for what only Framelane promises
 * and no standard demands.
 */
export type Level = 'must' | 'should' | 'own';

/** Something that is not as a rule wants it. */
export type Finding = {
  /** Which playlist, line or segment. */
  place: string;
  /** What is wrong, with the figures. */
  message: string;
};

/** What a rule has to say of a presentation. */
export type Verdict =
  | { outcome: 'passed'; figures?: string }
  | { outcome: 'failed'; findings: Finding[] }
  /** There is nothing the rule could be about, or it could not be measured. */
  | { outcome: 'not applicable'; reason: string };

/** What somebody knows of a video who made it. */
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
  /** Where it is written. */
  source: string;
  /** What it demands. */
  sentence: string;
  check(presentation: Presentation, facts: ServiceFacts): Verdict;
};

/** Failed if anything was found. */
export function judged(findings: readonly Finding[], figures?: string): Verdict {
  if (findings.length > 0) return { outcome: 'failed', findings: [...findings] };
  return figures === undefined ? { outcome: 'passed' } : { outcome: 'passed', figures };
}

export function notApplicable(reason: string): Verdict {
  return { outcome: 'not applicable', reason };
}

/** Judges each of some subjects; not applicable when there are none. */
export function judgeEach<Subject>(
  subjects: readonly Subject[],
  reasonIfNone: string,
  findings: (subject: Subject) => readonly Finding[],
): Verdict {
  return subjects.length === 0 ? notApplicable(reasonIfNone) : judged(subjects.flatMap(findings));
}

/** Segment n of a rendition, by the number a player knows it by. */
export function segmentPlace(name: string, { sequence }: { sequence: number }): string {
  return `${name}, segment ${sequence}`;
}

export function linePlace(name: string, { line }: { line: number }): string {
  return `${name}, line ${line}`;
}
