import { Stack, Text } from '@mantine/core';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../paths.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { type RequestAddress, readRequestAddress, writeRequestAddress } from './request-address.ts';
import { RequestErrors } from './request-errors.tsx';
import { RequestFilters } from './request-filters.tsx';
import { RequestList } from './request-list.tsx';

/** The requests of the workspace's keys, or their errors in groups. */
export function RequestsPage() {
  const address = readRequestAddress(useSearch());
  const [, navigate] = useLocation();
  const change = (changed: Partial<RequestAddress>) =>
    navigate(`${paths.requests}?${writeRequestAddress({ ...address, ...changed })}`, { replace: true });
  return (
    <Stack>
      <PageTitle>Requests</PageTitle>
      <Text>
        What API keys of this workspace asked for in the last 7 days, at most 10,000 requests. Texts and
        secrets are not stored.
      </Text>
      <RequestFilters address={address} onChange={change} />
      {address.view === 'errors' ? (
        <RequestErrors address={address} onChange={change} />
      ) : (
        <RequestList address={address} />
      )}
    </Stack>
  );
}
