import { unwrap } from '@framelane/client';
import { Button, Group, Stack, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useLocation, useSearch } from 'wouter';
import { api } from '../api/api.ts';
import { API_URL, paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { type AuditAddress, auditQueryOf, readAuditAddress, writeAuditAddress } from './audit-address.ts';
import { AuditFilters } from './audit-filters.tsx';
import { AuditRow } from './audit-row.tsx';
import '../ui/log-rows.css';

/** Who did what in the workspace. */
export function AuditPage() {
  const { workspace } = useSession();
  const address = readAuditAddress(useSearch());
  const [, navigate] = useLocation();
  const change = (changed: Partial<AuditAddress>) =>
    navigate(`${paths.audit}?${writeAuditAddress({ ...address, ...changed })}`, { replace: true });
  const filter = auditQueryOf(address);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } =
    useInfiniteQuery({
      queryKey: ['audit', filter],
      queryFn: ({ pageParam, signal }) => {
        const query = { ...filter, ...(pageParam && { cursor: pageParam }) };
        return unwrap(api.GET('/audit-events', { params: { query }, signal }));
      },
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
    });
  const events = data?.pages.flatMap((page) => page.data);
  const csv = new URLSearchParams({ workspace: workspace.id, ...filter });
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>Audit</PageTitle>
        <Button component="a" variant="default" href={`${API_URL}/audit-events/csv?${csv}`}>
          Download CSV
        </Button>
      </div>
      <Text>
        Who changed what in this workspace in the last 90 days, and who signed in. No request can change this
        list.
      </Text>
      <AuditFilters address={address} onChange={change} />
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {events === undefined && error === null && <Loading rows={5} />}
      {events?.length === 0 && <Text className="empty">No events.</Text>}
      {events !== undefined && events.length > 0 && (
        <ul className="rows log-rows audit-rows" aria-busy={isPlaceholderData}>
          {events.map((event) => (
            <AuditRow key={event.id} event={event} filter={address} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More events
          </Button>
        </Group>
      )}
    </Stack>
  );
}
