import { type Schemas, unwrap } from '@framelane/client';
import { Anchor, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { isGone } from '../api/problem.ts';
import { API_URL, paths } from '../paths.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Section } from '../ui/section.tsx';
import { curlCommand } from './curl-command.ts';
import { StatusCode } from './request-list.tsx';

/** A request with its headers and bodies. */
export function RequestPage({ id }: { id: string }) {
  const {
    data: request,
    error,
    refetch,
  } = useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => unwrap(api.GET('/requests/{id}', { params: { path: { id } }, signal })),
  });
  if (isGone(error)) return <NotFound what="request" />;
  if (request === undefined) {
    return error === null ? <Loading rows={4} /> : <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  return (
    <Stack>
      <Anchor component={Link} href={paths.requests}>
        All requests
      </Anchor>
      <div className="video-head">
        <PageTitle>{`${request.method} ${request.path}`}</PageTitle>
        <StatusCode status={request.status} />
      </div>
      <RequestFacts request={request} />
      <Copy label="Repeat with curl" value={curlCommand(request, API_URL)} />
      <Message title="Request" headers={request.requestHeaders} body={request.requestBody} />
      <Message title="Response" headers={request.responseHeaders} body={request.responseBody} />
    </Stack>
  );
}

function RequestFacts({ request }: { request: Schemas['LoggedRequestDetails'] }) {
  const { createdAt, durationMs, requestId, code, route, apiKey, query } = request;
  return (
    <Facts>
      <Fact name="Time">{formatTime(createdAt)}</Fact>
      <Fact name="Duration">{durationMs} ms</Fact>
      <Fact name="Request id">{requestId}</Fact>
      {code !== null && <Fact name="Problem">{code}</Fact>}
      <Fact name="Operation">{route}</Fact>
      <Fact name="Key">
        {apiKey.id} (…{apiKey.last4})
      </Fact>
      {Object.keys(query).length > 0 && <Fact name="Query">{JSON.stringify(query)}</Fact>}
    </Facts>
  );
}

function Message({
  title,
  headers,
  body,
}: {
  title: string;
  headers: Record<string, string>;
  body?: unknown;
}) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Section title={title}>
      <Copy label={`Headers of the ${title.toLowerCase()}`} value={lines.join('\n')} />
      {body === null || body === undefined ? (
        <p className="hint">No JSON body.</p>
      ) : (
        <Copy label={`Body of the ${title.toLowerCase()}`} value={JSON.stringify(body, null, 2)} />
      )}
    </Section>
  );
}
