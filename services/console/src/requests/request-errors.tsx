import { type Schemas, unwrap } from '@framelane/client';
import { Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { Age } from '../ui/age.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { useNow } from '../ui/now.ts';
import { ErrorTrend } from './error-trend.tsx';
import { queryOf, type RequestAddress, readRequestAddress } from './request-address.ts';
import { StatusCode } from './request-list.tsx';
import '../ui/log-rows.css';

type Props = { address: RequestAddress; onChange: (changed: Partial<RequestAddress>) => void };

/** Failed requests, grouped by problem and operation. */
export function RequestErrors({ address, onChange }: Props) {
  const query = queryOf(address);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['request-errors', query],
    queryFn: ({ signal }) => unwrap(api.GET('/request-errors', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.data.length === 0 && <Text className="empty">No errors.</Text>}
      {data !== undefined && data.data.length > 0 && (
        <ul className="rows log-rows error-rows" aria-busy={isPlaceholderData}>
          {data.data.map((group) => (
            <ErrorRow key={group.lastId} group={group} onChange={onChange} />
          ))}
        </ul>
      )}
    </>
  );
}

function ErrorRow({ group, onChange }: { group: Schemas['RequestError']; onChange: Props['onChange'] }) {
  const now = useNow();
  const { code, status, method, route, count, lastAt, daily } = group;
  const words = `${code ?? status}: ${method} ${route}`;
  const show = () =>
    onChange({
      view: '',
      status: readRequestAddress(`status=${String(status)[0]}xx`).status,
      method,
      path: route,
      code: code ?? '',
    });
  return (
    <li>
      <StatusCode status={status} />
      <span className="row-title" title={words}>
        {words}
      </span>
      <ErrorTrend daily={daily} now={now} />
      <span className="row-number hint">{count === 1 ? '1 request' : `${count} requests`}</span>
      <Age time={lastAt} className="row-number hint" />
      <Button size="xs" variant="default" onClick={show} aria-label={`Show the requests with ${words}`}>
        Show
      </Button>
    </li>
  );
}
