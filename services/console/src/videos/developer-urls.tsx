import { Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** What programs and sites need, below the link for viewers. */
export function DeveloperUrls({ children }: { children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="developer-urls">
      <Title order={3} size="sm" fw={500} c="dimmed" id={id}>
        URLs for developers
      </Title>
      {children}
    </section>
  );
}
