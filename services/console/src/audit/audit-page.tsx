import { type Schemas, unwrap } from '@framelane/client';
import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { actorWords, changeWords, RESOURCE_TYPES } from './audit-words.ts';

type AuditEvent = Schemas['AuditEvent'];

/** Who changed what in the workspace. */
export function AuditPage() {
  const { workspace } = useSession();
  const [resourceType, setResourceType] = useState<AuditEvent['resource']['type'] | ''>('');
  const [resourceId, setResourceId] = useState('');
  const filter = { ...(resourceType !== '' && { resourceType }), ...(resourceId !== '' && { resourceId }) };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
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
      <Text>Who changed what in this workspace in the last 90 days. Nobody can change this list.</Text>
      <search className="filters">
        <NativeSelect
          label="Kind"
          value={resourceType}
          onChange={({ currentTarget }) =>
            setResourceType(RESOURCE_TYPES.find((each) => each === currentTarget.value) ?? '')
          }
          data={[
            { value: '', label: 'All' },
            ...RESOURCE_TYPES.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
          ]}
        />
        <TextInput
          label="Id"
          type="search"
          placeholder="vid_…"
          value={resourceId}
          onChange={({ currentTarget }) => setResourceId(currentTarget.value)}
        />
      </search>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {events === undefined && error === null && <Loading rows={5} />}
      {events?.length === 0 && <Text>No changes.</Text>}
      {events !== undefined && events.length > 0 && (
        <ul className="rows">
          {events.map((event) => (
            <AuditRow key={event.id} event={event} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More changes
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function AuditRow({ event }: { event: AuditEvent }) {
  const { actor, createdAt, operation, requestId } = event;
  const facts = [actorWords(actor), formatTime(createdAt), operation, requestId ?? []].flat();
  return (
    <li>
      <div className="row-words">
        <span className="row-title">{changeWords(event)}</span>
        <span className="hint">{facts.join(' · ')}</span>
      </div>
    </li>
  );
}
