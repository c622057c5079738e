import type { Schemas } from '@framelane/client';
import { Anchor, Badge, Button, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Copy } from '../ui/copy.tsx';
import { useCreateDialog } from '../ui/create-dialog.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Secret, SecretModal } from '../ui/secret.tsx';
import { useWebhooks } from './queries.ts';
import { WebhookForm } from './webhook-form.tsx';
import { EVENT_TYPES, lastResultOf, WEBHOOK_COLOURS, webhookStatusWords } from './webhook-words.ts';

/** An example of an endpoint. It verifies the signature of an event. */
const EXAMPLE = `import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await text(request), request.headers);
    console.log(event.type, event.data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`;

export function WebhooksPage() {
  const { can } = useSession();
  const { data, error, refetch } = useWebhooks();
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>Webhooks</PageTitle>
        {can('webhooks:write') && <CreateWebhook />}
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={3} />}
      {data?.data.length === 0 && <NoWebhooks />}
      {data !== undefined && data.data.length > 0 && (
        <ul className="rows">
          {data.data.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
    </Stack>
  );
}

function WebhookRow({ webhook }: { webhook: Schemas['Webhook'] }) {
  const { id, url, description, events, deliveryStatus } = webhook;
  return (
    <li>
      <div className="row-words">
        <Anchor component={Link} href={paths.webhook(id)} className="row-title">
          {url}
        </Anchor>
        {description !== null && <span className="hint">{description}</span>}
        <span className="hint">{events.join(', ')}</span>
        <span className="hint">{lastResultOf(webhook)}</span>
      </div>
      <Badge variant="light" color={WEBHOOK_COLOURS[deliveryStatus]}>
        {webhookStatusWords(webhook)}
      </Badge>
    </li>
  );
}

function NoWebhooks() {
  return (
    <div className="empty">
      <Text fw={600}>This workspace has no webhooks.</Text>
      <Text>
        Framelane sends an event to each webhook when a video is ready, has failed or was deleted. This is an
        endpoint that receives events; WEBHOOK_SECRET is the secret of its webhook:
      </Text>
      <Copy label="An endpoint in Node" value={EXAMPLE} />
    </div>
  );
}

function CreateWebhook() {
  const [isOpen, setIsOpen] = useCreateDialog();
  const queries = useQueryClient();
  const creation = useMutation({
    mutationFn: (body: Parameters<typeof api.webhooks.create>[0]) => api.webhooks.create(body),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const close = () => setIsOpen(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Create webhook</Button>
      <SecretModal title="Create webhook" isOpen={isOpen} onClose={close} request={creation}>
        {creation.data === undefined ? (
          <WebhookForm
            initial={{ url: '', description: null, events: EVENT_TYPES }}
            submit="Create"
            onSubmit={(values) => creation.mutate(values)}
            onCancel={close}
            isPending={creation.isPending}
            error={creation.error}
          />
        ) : (
          <Secret
            what="secret"
            label="Signing secret"
            value={creation.data.secret}
            ifLost="Rotate the secret of the webhook."
            onDone={close}
          >
            <Text size="sm">Your endpoint verifies with it that an event comes from Framelane.</Text>
          </Secret>
        )}
      </SecretModal>
    </>
  );
}
