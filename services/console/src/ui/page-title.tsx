import { Title } from '@mantine/core';
import { useEffect, useRef } from 'react';

let isFirstPage = true;

/** The heading of a page, which also names the document. It gets the focus when the page is opened from another one. */
export function PageTitle({ children }: { children: string | string[] }) {
  const words = [children].flat().join('');
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${words} – Framelane`;
  }, [words]);
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus();
    isFirstPage = false;
  }, []);
  return (
    <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
      {words}
    </Title>
  );
}
