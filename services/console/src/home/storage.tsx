import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { formatBytes } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { formatMinutes, Limit } from '../usage/limits.tsx';
import { Part } from './part.tsx';
import type { useLimits } from './queries.ts';
import { quotaAdvice } from './quota-advice.ts';

/** Storage and minutes against their limits, and what to do when one is near. */
export function Storage({ query }: { query: ReturnType<typeof useLimits> }) {
  return (
    <Section
      title="Usage"
      action={
        <Anchor component={Link} href={paths.usage} size="sm">
          All figures
        </Anchor>
      }
    >
      <Part query={query} height={48}>
        {(limits) => {
          const { storedBytes, transcodedMinutes } = limits;
          return (
            <>
              <ul className="limits">
                <Limit
                  name="Stored"
                  {...storedBytes}
                  used={storedBytes.used + storedBytes.reserved}
                  format={formatBytes}
                />
                <Limit name="Transcoded this month" {...transcodedMinutes} format={formatMinutes} />
              </ul>
              {quotaAdvice(limits).map((advice) => (
                <p key={advice} className="quota-advice">
                  {advice}
                </p>
              ))}
            </>
          );
        }}
      </Part>
    </Section>
  );
}
