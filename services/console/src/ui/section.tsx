import { Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import './section.css';

/** A part of a page with its heading, and at the end of the heading what can be done there. */
export function Section({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="section">
      <Group justify="space-between" className="section-head">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </section>
  );
}
