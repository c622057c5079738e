import type { Schemas } from '@framelane/client';
import { Badge, Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { untilAttempted } from './delivery-attempts.ts';
import { type DeliveryStatus, useDeliveries, useDeliveryDetails } from './queries.ts';
import { DELIVERY_COLOURS, formatJson, headerLines, resultOf } from './webhook-words.ts';

type Webhook = Schemas['Webhook'];
type Delivery = Schemas['WebhookDelivery'];

/** The deliveries of a webhook. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const id = useId();
  const [status, setStatus] = useState<DeliveryStatus>();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } =
    useDeliveries(webhook.id, status);
  const deliveries = data?.pages.flatMap((page) => page.data);
  useRefreshWebhook(webhook.id, deliveries);
  return (
    <section aria-labelledby={id}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4" id={id}>
          Deliveries
        </Title>
        <NativeSelect
          size="xs"
          aria-label="Status of the deliveries"
          value={status ?? ''}
          onChange={({ currentTarget }) => setStatus(STATUSES.find((each) => each === currentTarget.value))}
          data={[{ value: '', label: 'all' }, ...STATUSES]}
        />
      </Group>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {deliveries === undefined && error === null && <Loading rows={3} />}
      {deliveries?.length === 0 && (
        <div className="empty">
          <Text>
            {status === undefined
              ? 'No event was sent in the last 30 days. A test event shows whether the endpoint works.'
              : `No delivery of the last 30 days has the status ${status}.`}
          </Text>
        </div>
      )}
      {deliveries !== undefined && deliveries.length > 0 && (
        <ul className="rows" aria-busy={isPlaceholderData}>
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.id} webhook={webhook} delivery={delivery} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button mt="sm" variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          More deliveries
        </Button>
      )}
    </section>
  );
}

const STATUSES = ['pending', 'retrying', 'succeeded', 'failed'] as const satisfies readonly DeliveryStatus[];

/** Loads the state of the webhook again when an attempt has been made. */
function useRefreshWebhook(id: string, deliveries: readonly Delivery[] | undefined): void {
  const queries = useQueryClient();
  const attempts = deliveries?.map((delivery) => `${delivery.id} ${delivery.attempts}`).join();
  useEffect(() => {
    if (attempts !== undefined) void queries.invalidateQueries({ queryKey: ['webhooks', 'one', id] });
  }, [attempts, id, queries]);
}

function DeliveryRow({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const [isOpen, setIsOpen] = useState(false);
  const { eventType, status, attempts, createdAt, nextAttemptAt } = delivery;
  const made = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const next = nextAttemptAt === null ? '' : ` · next ${formatTime(nextAttemptAt)}`;
  return (
    <li>
      <div className="row-words">
        <span className="row-title">{eventType}</span>
        <span className="hint">
          {formatTime(createdAt)} · {made}
          {next}
        </span>
        <span className="hint">{resultOf(delivery)}</span>
      </div>
      <Badge variant="light" color={DELIVERY_COLOURS[status]}>
        {status}
      </Badge>
      <Button
        size="xs"
        variant="default"
        aria-expanded={isOpen}
        aria-label={`Details of ${eventType}, ${formatTime(createdAt)}`}
        onClick={() => setIsOpen(!isOpen)}
      >
        Details
      </Button>
      <Redeliver webhook={webhook} delivery={delivery} />
      {isOpen && <Details webhookId={webhook.id} delivery={delivery} />}
    </li>
  );
}

function Redeliver({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { can } = useSession();
  const queries = useQueryClient();
  const redelivery = useMutation({
    mutationFn: async () => untilAttempted(webhook.id, await api.webhooks.redeliver(webhook.id, delivery.id)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (!can('webhooks:write') || !webhook.enabled) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={redelivery.isPending}
        aria-label={`Redeliver ${delivery.eventType}, ${formatTime(delivery.createdAt)}`}
        onClick={() => redelivery.mutate()}
      >
        Redeliver
      </Button>
      {redelivery.error && <ErrorAlert error={redelivery.error} />}
    </>
  );
}

/** The request of a delivery, and the responses to it. */
function Details({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const { data, error, refetch } = useDeliveryDetails(webhookId, delivery.id, delivery.attempts);
  if (error !== null) return <ErrorAlert error={error} retry={() => void refetch()} />;
  return (
    <Stack gap="xs" className="row-details">
      {data === undefined && <Loading rows={1} />}
      {data !== undefined && <Body label="Request body" text={formatJson(data.requestBody)} />}
      {data?.attemptLog.map((attempt) => (
        <DeliveryAttempt key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  );
}

function DeliveryAttempt({ attempt }: { attempt: Schemas['WebhookAttempt'] }) {
  const { number, at, durationMs, requestHeaders, responseBody } = attempt;
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={500}>
          Attempt {number}
        </Text>
        <Text size="sm">
          {formatTime(at)} · {durationMs} ms · {resultOf(attempt)}
        </Text>
      </Group>
      {requestHeaders && (
        <Body label={`Request headers of attempt ${number}`} text={headerLines(requestHeaders)} />
      )}
      {responseBody && <Body label={`Response to attempt ${number}`} text={responseBody} />}
    </div>
  );
}

/** A text of a program. It can be scrolled with the keyboard. */
function Body({ label, text }: { label: string; text: string }) {
  const id = useId();
  return (
    <div>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <textarea id={id} className="body" readOnly value={text} rows={Math.min(12, text.split('\n').length)} />
    </div>
  );
}
