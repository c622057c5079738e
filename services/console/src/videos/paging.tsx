import type { Schemas } from '@framelane/client';
import { Button } from '@mantine/core';
import ChevronLeft from 'lucide-react/icons/chevron-left';
import ChevronRight from 'lucide-react/icons/chevron-right';
import { useLocation } from 'wouter';
import { paths } from '../paths.ts';
import { type ListAddress, writeListAddress } from './list-address.ts';
import { rangeWords } from './range-words.ts';

type PagingProps = {
  address: ListAddress;
  /** How many videos are shown. */
  count: number;
  nextCursor: string | null;
  /** Of all pages; undefined until it is known. */
  total: Schemas['VideoTotal'] | undefined;
  /** Whether the list and `nextCursor` still belong to another address. */
  isLoading: boolean;
};

/** Which videos of the list are shown, and the way to the others. */
export function Paging({ address, count, nextCursor, total, isLoading }: PagingProps) {
  const [, navigate] = useLocation();
  // How many pages somebody went forward here, so that "Back" is the page before and not another site.
  const depth: number = history.state?.depth ?? 0;
  if (count === 0 && address.cursor === '') return null;
  const to = (cursor: string) => paths.videos + writeListAddress({ ...address, cursor });
  const back = () => (depth > 0 ? history.back() : navigate(to('')));
  return (
    <nav className="paging" aria-label="Pages of the list">
      <span className="hint">
        {rangeWords({ count, depth, hasBefore: address.cursor !== '', hasAfter: nextCursor !== null, total })}
      </span>
      {address.cursor !== '' && (
        <Button variant="default" leftSection={<ChevronLeft />} onClick={back}>
          {depth > 0 ? 'Previous' : 'First page'}
        </Button>
      )}
      {nextCursor !== null && (
        <Button
          variant="default"
          rightSection={<ChevronRight />}
          disabled={isLoading}
          onClick={() => navigate(to(nextCursor), { state: { depth: depth + 1 } })}
        >
          Next
        </Button>
      )}
    </nav>
  );
}
