import type { Schemas } from '@framelane/client';
import { Alert, Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { isGone } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Deliveries } from './deliveries.tsx';
import { useWebhook } from './queries.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { lastResultOf, reasonOf, WEBHOOK_COLOURS, webhookStatusWords } from './webhook-words.ts';

export function WebhookPage({ id }: { id: string }) {
  const { can } = useSession();
  const { data: webhook, error, refetch } = useWebhook(id);
  if (isGone(error)) return <NotFound what="webhook" />;
  if (webhook === undefined) {
    return error === null ? <Loading rows={4} /> : <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  return (
    <Stack>
      <Anchor component={Link} href={paths.webhooks}>
        All webhooks
      </Anchor>
      <div className="video-head">
        <PageTitle>{webhook.url}</PageTitle>
        <Badge variant="light" color={WEBHOOK_COLOURS[webhook.deliveryStatus]}>
          {webhookStatusWords(webhook)}
        </Badge>
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      <Reason webhook={webhook} />
      {can('webhooks:write') && <WebhookActions webhook={webhook} />}
      <WebhookFacts webhook={webhook} />
      <Deliveries webhook={webhook} />
    </Stack>
  );
}

function Reason({ webhook }: { webhook: Schemas['Webhook'] }) {
  const reason = reasonOf(webhook);
  if (reason === undefined) return null;
  return (
    <Alert color="yellow" title="This webhook is disabled">
      <Text size="sm">{reason}</Text>
    </Alert>
  );
}

function WebhookFacts({ webhook }: { webhook: Schemas['Webhook'] }) {
  const { id, description, events, createdAt } = webhook;
  return (
    <Facts>
      <Fact name="Webhook">{id}</Fact>
      {description !== null && <Fact name="Description">{description}</Fact>}
      <Fact name="Events">
        <Group gap="xs">
          {events.map((event) => (
            <Badge key={event} variant="light" color="gray">
              {event}
            </Badge>
          ))}
        </Group>
      </Fact>
      <Fact name="Latest attempt">{lastResultOf(webhook)}</Fact>
      <Fact name="Created">{formatTime(createdAt)}</Fact>
    </Facts>
  );
}
