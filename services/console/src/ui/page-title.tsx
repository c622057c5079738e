import { Title } from '@mantine/core';
import BookOpen from 'lucide-react/icons/book-open';
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { pageAt } from '../navigation.ts';
import { DOCS_URL } from '../paths.ts';

let isFirstPage = true;

/** The heading of a page, which also names the document, with a link to its guide. It gets the focus when the page is opened from another one. */
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
  const page = pageAt(useLocation()[0]);
  return (
    <div className="page-head">
      <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
        {words}
      </Title>
      {page !== undefined && (
        <a
          className="icon-button"
          href={DOCS_URL + page.guide}
          target="_blank"
          rel="noopener"
          aria-label={`Guide: ${page.name}`}
          title={`Guide: ${page.name}`}
        >
          <BookOpen />
        </a>
      )}
    </div>
  );
}
