import type { Schemas } from '@framelane/client';

/** The fields that a person can set. */
export type WebhookValues = {
  url: string;
  description: string | null;
  events: Schemas['WebhookEventType'][];
};

/** The fields that differ between two states of the form. The request contains no others, so that it does not undo other changes. */
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
