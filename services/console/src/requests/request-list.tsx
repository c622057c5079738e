import { type Schemas, unwrap } from '@framelane/client';
import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { Age } from '../ui/age.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { queryOf, type RequestAddress } from './request-address.ts';
import '../ui/log-rows.css';

export function RequestList({ address }: { address: RequestAddress }) {
  const { requestId } = address;
  const filter = { ...queryOf(address), ...(requestId !== '' && { requestId }) };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } =
    useInfiniteQuery({
      queryKey: ['requests', filter],
      queryFn: ({ pageParam, signal }) => {
        const query = { ...filter, ...(pageParam && { cursor: pageParam }) };
        return unwrap(api.GET('/requests', { params: { query }, signal }));
      },
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => nextCursor,
      placeholderData: keepPreviousData,
    });
  const requests = data?.pages.flatMap((page) => page.data);
  return (
    <>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {requests === undefined && error === null && <Loading rows={5} />}
      {requests?.length === 0 && <Text className="empty">No requests.</Text>}
      {requests !== undefined && requests.length > 0 && (
        <ul className="rows log-rows request-rows" aria-busy={isPlaceholderData}>
          {requests.map((request) => (
            <RequestRow key={request.id} request={request} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More requests
          </Button>
        </Group>
      )}
    </>
  );
}

function RequestRow({ request }: { request: Schemas['LoggedRequest'] }) {
  const { id, method, path, status, code, durationMs, apiKey, createdAt } = request;
  const title = `${method} ${path}`;
  return (
    <li>
      <StatusCode status={status} />
      <Anchor component={Link} href={paths.request(id)} className="row-title" title={title}>
        {title}
      </Anchor>
      <span className="row-fact hint" title={code ?? undefined}>
        {code}
      </span>
      <span className="row-more hint">key …{apiKey.last4}</span>
      <span className="row-more row-number hint">{durationMs} ms</span>
      <Age time={createdAt} className="row-number hint" />
    </li>
  );
}

/** The status of a response. */
export function StatusCode({ status }: { status: number }) {
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'gray';
  return (
    <Badge variant="light" color={colour}>
      {status}
    </Badge>
  );
}
