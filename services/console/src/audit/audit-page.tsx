import { type Schemas, unwrap } from '@framelane/client';
import { Anchor, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { API_URL, paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Age } from '../ui/age.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { TypedInput, used } from '../ui/typed-input.tsx';
import { actorWords, changeWords, RESOURCE_TYPES } from './audit-words.ts';
import '../ui/log-rows.css';

type AuditEvent = Schemas['AuditEvent'];

/** Who changed what in the workspace. */
export function AuditPage() {
  const { workspace } = useSession();
  const [resourceType, setResourceType] = useState<AuditEvent['resource']['type'] | ''>('');
  const [resourceId, setResourceId] = useState('');
  const filter = { ...(resourceType !== '' && { resourceType }), ...(resourceId !== '' && { resourceId }) };
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
      <Text>Who changed what in this workspace in the last 90 days. Nobody can change this list.</Text>
      <search className="filters">
        <TypedInput
          label="Id"
          type="search"
          placeholder="vid_…"
          maxLength={320}
          value={resourceId}
          onValue={setResourceId}
        />
        <NativeSelect
          label="Kind"
          wrapperProps={used(resourceType)}
          value={resourceType}
          onChange={({ currentTarget }) =>
            setResourceType(RESOURCE_TYPES.find((each) => each === currentTarget.value) ?? '')
          }
          data={[
            { value: '', label: 'All' },
            ...RESOURCE_TYPES.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
          ]}
        />
      </search>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {events === undefined && error === null && <Loading rows={5} />}
      {events?.length === 0 && <Text className="empty">No changes.</Text>}
      {events !== undefined && events.length > 0 && (
        <ul className="rows log-rows audit-rows" aria-busy={isPlaceholderData}>
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
  const { can } = useSession();
  const { actor, createdAt, operation, requestId } = event;
  const [words, who] = [changeWords(event), actorWords(actor)];
  // The request log has requests of keys.
  const isLogged = actor.type === 'api_key' && requestId !== null && can('requests:read');
  return (
    <li>
      <span className="row-title" title={words}>
        {words}
      </span>
      <span className="row-fact hint" title={who}>
        {who}
      </span>
      <span className="row-more row-fact hint" title={requestId ?? undefined}>
        {isLogged ? (
          <Anchor
            component={Link}
            href={`${paths.requests}?${new URLSearchParams({ requestId })}`}
            inherit
            aria-label={`Requests with the id ${requestId}: ${operation}`}
          >
            {operation}
          </Anchor>
        ) : (
          operation
        )}
      </span>
      <Age time={createdAt} className="row-number hint" />
    </li>
  );
}
