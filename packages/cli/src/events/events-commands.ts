import type { Command } from 'commander';
import { words } from '../arguments.ts';
import type { Host } from '../host.ts';
import { apiCommand, type Session } from '../run-command.ts';
import { eventText } from './event-text.ts';
import { type Event, followEvents } from './follow-events.ts';
import { noteTrouble } from './note-trouble.ts';
import { sinceTime } from './since-time.ts';

type Options = { follow?: boolean; since?: string; types?: string[] };

/** What `tail` shows without `--since`. */
const DEFAULT_SINCE = '1d';

/** `events tail`. */
export function addEventsCommands(program: Command, host: Host): void {
  const events = program.command('events').description('show what happens in the workspace');
  const tail = events
    .command('tail')
    .description('show events, oldest first')
    .option('--follow', 'go on until Ctrl-C; without --since, with the next event')
    .option(
      '--since <time>',
      'from this time on: a time, or 15m, 2h, 1d (default: 1d; at most 30d)',
      (text) => sinceTime(text),
    )
    .option('--types <list>', 'only these types of events', words)
    .addHelpText(
      'after',
      '\nExamples:\n  framelane events tail --since 2h\n  framelane events tail --follow --json --types video.ready',
    );
  apiCommand(tail, host, async (session, options: Options) => {
    const isWanted = ({ type }: Event) => options.types?.includes(type) ?? true;
    for await (const event of options.follow ? followed(session, options) : stored(session, options))
      if (isWanted(event)) session.output.event(event, (each) => `${eventText(each)}\n`);
  });
}

function followed({ client, output, host }: Session, { since }: Options): AsyncGenerator<Event, void> {
  return followEvents(client, {
    start: since === undefined ? { from: 'now' } : { since },
    signal: host.signal,
    onReady: () => output.note('Waiting for events. Ctrl-C ends.'),
    onTrouble: noteTrouble(output),
  });
}

/** The events that are stored now. */
async function* stored(
  { client, host }: Session,
  { since = sinceTime(DEFAULT_SINCE) }: Options,
): AsyncGenerator<Event, void> {
  let position: { since?: string; cursor?: string } = { since };
  for (;;) {
    const { data, nextCursor, hasMore } = await client.events.list(
      { ...position, limit: 100 },
      { signal: host.signal },
    );
    yield* data;
    if (!hasMore) return;
    position = { cursor: nextCursor };
  }
}
