import { Button } from '@mantine/core';
import { useLocation } from 'wouter';
import { paths } from '../paths.ts';
import { type ListAddress, writeListAddress } from './list-address.ts';

type PagingProps = {
  address: ListAddress;
  nextCursor: string | null;
  /** Whether the list and `nextCursor` still belong to another address. */
  isLoading: boolean;
};

export function Paging({ address, nextCursor, isLoading }: PagingProps) {
  const [, navigate] = useLocation();
  // How many pages somebody went forward here, so that "Back" is the page before and not another site.
  const depth: number = history.state?.depth ?? 0;
  if (nextCursor === null && address.cursor === '') return null;
  const to = (cursor: string) => paths.videos + writeListAddress({ ...address, cursor });
  const back = () => (depth > 0 ? history.back() : navigate(to('')));
  return (
    <nav className="paging" aria-label="Pages of the list">
      {address.cursor !== '' && (
        <Button variant="default" onClick={back}>
          {depth > 0 ? 'Previous' : 'First page'}
        </Button>
      )}
      {nextCursor !== null && (
        <Button
          variant="default"
          disabled={isLoading}
          onClick={() => navigate(to(nextCursor), { state: { depth: depth + 1 } })}
        >
          Next
        </Button>
      )}
    </nav>
  );
}
