import type { Schemas } from '@framelane/client';

type Webhook = Pick<Schemas['Webhook'], 'deliveryStatus' | 'disabledReason'>;

/** Whether somebody should repair the endpoint. Who has disabled a webhook knows it. */
export function isBroken({ deliveryStatus, disabledReason }: Webhook): boolean {
  return deliveryStatus === 'failing' || (deliveryStatus === 'disabled' && disabledReason !== 'manual');
}

/** The webhooks of which none is broken, in words. */
export function stateWords(webhooks: readonly Webhook[]): string {
  const count = (status: Webhook['deliveryStatus']) =>
    webhooks.filter(({ deliveryStatus }) => deliveryStatus === status).length;
  const [healthy, pending, disabled] = [count('healthy'), count('pending'), count('disabled')];
  const words = [
    ...(healthy > 0 ? [healthy === 1 ? '1 webhook works' : `${healthy} webhooks work`] : []),
    ...(pending > 0 ? [`${pending} without an event yet`] : []),
    ...(disabled > 0 ? [`${disabled} disabled`] : []),
  ].join(', ');
  return healthy > 0 ? words : `Webhooks: ${words}`;
}
