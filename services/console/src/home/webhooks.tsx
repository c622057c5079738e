import type { Schemas } from '@framelane/client';
import { Anchor } from '@mantine/core';
import CircleX from 'lucide-react/icons/circle-x';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { Age } from '../ui/age.tsx';
import { Section } from '../ui/section.tsx';
import { useWebhooks } from '../webhooks/queries.ts';
import { lastResultOf, reasonOf } from '../webhooks/webhook-words.ts';
import { Fine } from './fine.tsx';
import { Part } from './part.tsx';
import { isBroken, stateWords } from './webhook-states.ts';

type Webhook = Schemas['Webhook'];

/** The webhooks to which events cannot be delivered, and why. Nothing for a workspace without webhooks. */
export function Webhooks() {
  const query = useWebhooks();
  return (
    <Part query={query} height={44}>
      {({ data }) => data.length > 0 && <WebhookStates webhooks={data} />}
    </Part>
  );
}

function WebhookStates({ webhooks }: { webhooks: readonly Webhook[] }) {
  const broken = webhooks.filter(isBroken);
  if (broken.length === 0) return <Fine>{stateWords(webhooks)}</Fine>;
  return (
    <Section title={broken.length === 1 ? 'A webhook fails' : `${broken.length} webhooks fail`}>
      <ul className="failure-groups">
        {broken.map((webhook) => (
          <BrokenWebhook key={webhook.id} webhook={webhook} />
        ))}
      </ul>
    </Section>
  );
}

function BrokenWebhook({ webhook }: { webhook: Webhook }) {
  const { id, url, lastDelivery, deliveryStatus } = webhook;
  const since = webhook.failingSince ?? lastDelivery?.at;
  return (
    <li>
      <div className="failure-words">
        <span className="failure-titles">
          <Anchor component={Link} href={paths.webhook(id)} className="row-title" title={url}>
            {url}
          </Anchor>
          <span className="status-words" data-status="failed">
            <CircleX />
            {deliveryStatus === 'failing' ? 'Failing' : 'Disabled'}
          </span>
        </span>
        <span className="failure-reason">{lastResultOf(webhook)}</span>
        <span className="hint">
          {since != null && (
            <>
              First failure <Age time={since} />.{' '}
            </>
          )}
          {reasonOf(webhook) ?? 'Framelane tries each delivery again. Repair the endpoint.'}
        </span>
      </div>
    </li>
  );
}
