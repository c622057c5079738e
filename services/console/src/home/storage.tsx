import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { formatBytes } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { formatMinutes, Limit } from '../usage/limits.tsx';
import { Part } from './part.tsx';
import { useLimits } from './queries.ts';

/** Storage and minutes against their limits. */
export function Storage() {
  return (
    <Section
      title="Usage"
      action={
        <Anchor component={Link} href={paths.usage} size="sm">
          All figures
        </Anchor>
      }
    >
      <Part query={useLimits()} height={96}>
        {({ storedBytes, transcodedMinutes }) => (
          <ul className="limits">
            <Limit
              name="Stored"
              {...storedBytes}
              used={storedBytes.used + storedBytes.reserved}
              format={formatBytes}
            />
            <Limit name="Transcoded this month" {...transcodedMinutes} format={formatMinutes} />
          </ul>
        )}
      </Part>
    </Section>
  );
}
