import { type Schemas, unwrap } from '@framelane/client';
import { Button, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatAge } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { useNow } from '../ui/now.ts';
import { queryOf, type RequestAddress, readRequestAddress } from './request-address.ts';
import { StatusCode } from './request-list.tsx';

type Props = { address: RequestAddress; onChange: (changed: Partial<RequestAddress>) => void };

/** Failed requests, grouped by problem and operation. */
export function RequestErrors({ address, onChange }: Props) {
  const query = queryOf(address);
  const { data, error, refetch } = useQuery({
    queryKey: ['request-errors', query],
    queryFn: ({ signal }) => unwrap(api.GET('/request-errors', { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.data.length === 0 && <Text>No errors.</Text>}
      {data !== undefined && data.data.length > 0 && (
        <ul className="rows">
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
  const { code, status, method, route, count, lastAt } = group;
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
      <div className="row-words">
        <span className="row-title">{words}</span>
        <span className="hint">
          {count === 1 ? '1 request' : `${count} requests`} · last {formatAge(lastAt, now)}
        </span>
      </div>
      <StatusCode status={status} />
      <Button size="xs" variant="default" onClick={show} aria-label={`Show the requests with ${words}`}>
        Show
      </Button>
    </li>
  );
}
