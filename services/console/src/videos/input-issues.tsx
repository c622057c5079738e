import type { Video } from '@framelane/client';
import { Section } from '../ui/section.tsx';

/** What Framelane changed about a file that it could not take as it is. Nothing without changes. */
export function InputIssues({ issues }: { issues: Video['inputIssues'] }) {
  if (issues.length === 0) return null;
  return (
    <Section title="What Framelane changed">
      <ul className="issues">
        {issues.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </Section>
  );
}
