import { type Command, InvalidArgumentError } from 'commander';
import { words } from '../arguments.ts';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { eventText } from './event-text.ts';
import { followEvents } from './follow-events.ts';
import { type Forwarded, forwardEvent } from './forward-event.ts';
import { listenSecret } from './listen-secret.ts';
import { noteTrouble } from './note-trouble.ts';
import { sinceTime } from './since-time.ts';

type Options = { forwardTo: string; types?: string[]; since?: string };

/** `listen`. */
export function addListenCommand(program: Command, host: Host): void {
  const command = program
    .command('listen')
    .description('forward events to an endpoint on this machine, signed as webhooks are')
    .requiredOption('--forward-to <url>', 'the endpoint, such as http://localhost:3000/hook', readUrl)
    .option('--types <list>', 'only these types of events', words)
    .option('--since <time>', 'also events since this time: a time, or 15m, 2h, 1d', (text) =>
      sinceTime(text),
    )
    .addHelpText(
      'after',
      `
Events are read from the API, so that no address of this machine needs to be public. A failed request is shown, not repeated.
The secret stays the same as long as the API key.

Example:
  framelane listen --forward-to http://localhost:3000/hook`,
    );
  apiCommand(command, host, async ({ connection, client, output }, options: Options) => {
    const { forwardTo: url, types, since } = options;
    const secret = listenSecret(connection.apiKey);
    const events = followEvents(client, {
      start: since === undefined ? { from: 'now' } : { since },
      signal: host.signal,
      onReady: () =>
        output.event(
          { type: 'ready', url, secret },
          () => `Ready. The signing secret is ${secret}\nForwarding to ${url}. Ctrl-C ends.\n`,
        ),
      onTrouble: noteTrouble(output),
    });
    for await (const event of events) {
      if (types !== undefined && !types.includes(event.type)) continue;
      const forwarded = await forwardEvent(event, { url, secret, signal: host.signal });
      output.event(
        { type: 'forwarded', event: { id: event.id, type: event.type }, ...forwarded },
        () => `${eventText(event)}  → ${describe(forwarded)}\n`,
      );
    }
  });
}

function describe(forwarded: Forwarded): string {
  return 'status' in forwarded ? `${forwarded.status} (${forwarded.ms} ms)` : `failed: ${forwarded.problem}`;
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href;
  throw new InvalidArgumentError('Use an http or https URL, such as http://localhost:3000/hook.');
}
