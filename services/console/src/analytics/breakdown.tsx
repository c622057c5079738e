import type { ReactNode } from 'react';
import { Section } from '../ui/section.tsx';
import { formatShare, shareOf } from './analytics-words.ts';

/** A part of a whole: its name, and its value in words. */
export type Part = { key: string; name: ReactNode; value: number; words: string };

type BreakdownProps = {
  title: string;
  parts: readonly Part[];
  /** What is said instead if there are no parts. */
  empty: string;
  /** The sum of all parts; by default that of those shown. */
  whole?: number;
};

/** The parts of a whole, each with its share as a bar. */
export function Breakdown({ title, parts, empty, whole = sumOf(parts) }: BreakdownProps) {
  return (
    <Section title={title}>
      {parts.length === 0 && <p className="hint">{empty}</p>}
      <ul className="breakdown">
        {parts.map(({ key, name, value, words }) => (
          <li key={key}>
            <span className="breakdown-name">{name}</span>
            <span className="breakdown-value">{words}</span>
            <span className="breakdown-share">{formatShare(shareOf(value, whole))}</span>
            <span className="breakdown-bar" style={{ inlineSize: `${shareOf(value, whole)}%` }} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function sumOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}
