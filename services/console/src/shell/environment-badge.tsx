import { Badge } from '@mantine/core';
import type { Session } from '../sign-in/session.ts';

/** The environment of the tab, where it cannot be changed. */
export function EnvironmentBadge({ environment }: Pick<Session, 'environment'>) {
  return (
    <Badge variant="light" color={environment === 'live' ? 'blue' : 'gray'}>
      {environment}
    </Badge>
  );
}
