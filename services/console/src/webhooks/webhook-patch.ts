import type { Schemas } from '@framelane/client';

/** What a person can set. */
export type WebhookValues = {
  url: string;
  description: string | null;
  events: Schemas['WebhookEventType'][];
};

/** What changed between two states of the form. It contains nothing else, so that it undoes no other change. */
export function webhookPatch(before: WebhookValues, after: WebhookValues): Schemas['WebhookPatch'] {
  const { url, description, events } = after;
  return {
    ...(url !== before.url && { url }),
    ...(description !== before.description && { description }),
    ...(!hasSame(events, before.events) && { events }),
  };
}

/** The order does not matter. */
function hasSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each) => others.includes(each));
}
