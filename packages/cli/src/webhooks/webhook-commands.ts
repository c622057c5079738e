import type { Resources, Schemas } from '@framelane/client';
import type { Command } from 'commander';
import { words } from '../arguments.ts';
import { CliError } from '../cli-error.ts';
import { firstOf } from '../first-of.ts';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { facts, table } from '../terminal/table.ts';
import { settledDelivery } from './settled-delivery.ts';

type NewWebhook = Parameters<Resources['webhooks']['create']>[0];
type CreateOptions = { events?: string[]; description?: string };

/** `webhooks` with its commands. */
export function addWebhookCommands(program: Command, host: Host): void {
  const webhooks = program
    .command('webhooks')
    .description('list, create, test and delete webhooks')
    .addHelpText(
      'after',
      '\nExamples:\n  framelane webhooks create https://example.com/hook --events video.ready,video.failed\n  framelane webhooks test whk_…',
    );

  apiCommand(
    webhooks.command('list').description('list the webhooks of the workspace'),
    host,
    async ({ client, output }) => {
      output.result(
        await firstOf(
          client.webhooks.list({ limit: 100 }, { signal: host.signal }),
          Number.POSITIVE_INFINITY,
        ),
        describe,
      );
    },
  );

  apiCommand(
    webhooks
      .command('create')
      .description('register an endpoint, and print its secret')
      .argument('<url>', 'the URL that gets the events')
      .option('--events <list>', 'types of events (default: video.ready,video.failed,video.deleted)', words)
      .option('--description <text>', 'what it is for'),
    host,
    async ({ client, output }, { events, description }: CreateOptions, url: string) => {
      const body = {
        url,
        ...(events && { events }),
        ...(description !== undefined && { description }),
      };
      // The server says which types of events it refuses.
      const created = await client.webhooks.create(body as NewWebhook, { signal: host.signal });
      output.result(created, ({ id, secret, events: types }) =>
        facts({
          Webhook: id,
          Events: types.join(', '),
          Secret: secret && `${secret}   (store it now: it is not shown again)`,
        }),
      );
    },
  );

  apiCommand(
    webhooks.command('delete').description('delete a webhook').argument('<id>', 'the webhook'),
    host,
    async ({ client, output }, _options, id: string) => {
      await client.webhooks.delete(id, { signal: host.signal });
      output.result({ id }, () => `Deleted ${id}.\n`);
    },
  );

  apiCommand(
    webhooks
      .command('test')
      .description('send a test event, and show the response')
      .argument('<id>', 'the webhook'),
    host,
    async ({ client, output }, _options, id: string) => {
      const delivery = await settledDelivery(
        client,
        await client.webhooks.test(id, { signal: host.signal }),
        id,
        host.signal,
      );
      output.result(
        delivery,
        ({ status, responseStatus }) => `${status}: ${responseStatus ?? 'no response'}\n`,
      );
      if (delivery.status !== 'succeeded')
        throw new CliError(delivery.error?.message ?? 'The endpoint did not accept the event.');
    },
  );
}

function describe(webhooks: readonly Schemas['Webhook'][]): string {
  if (webhooks.length === 0) return 'The workspace has no webhook.\n';
  return table(
    ['ID', 'STATUS', 'URL', 'EVENTS', 'DESCRIPTION'],
    webhooks.map(({ id, deliveryStatus, url, events, description }) => [
      id,
      deliveryStatus,
      url,
      events.join(','),
      description ?? '',
    ]),
  );
}
