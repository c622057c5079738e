import type { Schemas } from '@framelane/client';
import { Alert, Anchor, Badge, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { DOCS_URL } from '../paths.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatClock } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Engines } from './engines.tsx';
import { useReadiness, useSystem } from './queries.ts';
import {
  backlogWords,
  backupState,
  backupWords,
  healthState,
  KINDS,
  type State,
  UNKNOWN,
  warningsOf,
} from './system-words.ts';

type System = Schemas['System'];

/** The state of the installation, for administrators. */
export function SystemPage() {
  const { data: system, error, refetch } = useSystem();
  const { data: missing } = useReadiness(error);
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>System</PageTitle>
        {system !== undefined && <span className="hint">As of {formatClock(system.readAt)}</span>}
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {error !== null && missing !== undefined && <Missing names={missing} />}
      {error !== null && system !== undefined && (
        <Text>The rest of this page is from {formatClock(system.readAt)}.</Text>
      )}
      {system === undefined && error === null && <Loading rows={4} />}
      {system !== undefined && (
        <>
          <Warnings system={system} />
          <div className="columns">
            <Health system={system} />
            <Work system={system} />
            <Backups system={system} />
            <Versions system={system} />
          </div>
          <Engines engines={system.engines} />
        </>
      )}
    </Stack>
  );
}

/** The unavailable systems, which the control plane also reports without a session. */
function Missing({ names }: { names: string[] | null }) {
  if (names === null) return <Text>The control plane does not report which systems are unavailable.</Text>;
  return (
    <Text>
      {names.length === 0
        ? 'The control plane is ready again.'
        : `These systems are unavailable: ${names.join(', ')}.`}
    </Text>
  );
}

function Warnings({ system }: { system: System }) {
  const warnings = warningsOf(system);
  return (
    <div role="status">
      {warnings.length > 0 && (
        <Alert color="red" title="This needs attention">
          {warnings.map((warning) => (
            <div key={warning}>{warning}</div>
          ))}
        </Alert>
      )}
    </div>
  );
}

function Health({ system: { health } }: { system: System }) {
  return (
    <Section name="Health">
      <HealthRow name="Database" health={health.database} />
      <HealthRow name="Queue" health={health.queue} />
      <HealthRow name="Storage" health={health.storage} />
    </Section>
  );
}

function HealthRow({ name, health }: { name: string; health: Schemas['SystemHealth'] }) {
  return (
    <Row name={name}>
      <StateBadge state={healthState(health)} />
      <div className="hint">{KINDS[health.kind]}</div>
    </Row>
  );
}

function Work({ system }: { system: System }) {
  const { videos, uploads, imports, webhookDeliveries: deliveries, deadLetters, health } = system;
  return (
    <Section name="Work">
      <Row name="Videos waiting">{videos && backlogWords(videos.waiting)}</Row>
      <Row name="Videos transcoded now">{videos && backlogWords(videos.running)}</Row>
      <Row name="Files being uploaded">{uploads && (uploads.running || 'none')}</Row>
      <Row name="Imports waiting">{imports && backlogWords(imports.waiting)}</Row>
      <Row name="Imports in progress">{imports && backlogWords(imports.running)}</Row>
      <Row name="Webhook deliveries due">{deliveries && backlogWords(deliveries.due)}</Row>
      <Row name="Webhook deliveries later">{deliveries && (deliveries.scheduled || 'none')}</Row>
      <Row name="Dead letters">
        {deadLetters && <DeadLetters counts={deadLetters} inProcess={health.queue.kind === 'in_process'} />}
      </Row>
    </Section>
  );
}

function DeadLetters({
  counts,
  inProcess,
}: {
  counts: NonNullable<System['deadLetters']>;
  inProcess: boolean;
}) {
  const { commands, events } = counts;
  return (
    <>
      {commands + events === 0 ? 'none' : `${commands} commands, ${events} events`}
      {inProcess && <div className="hint">Since the start of this process. There is no RabbitMQ.</div>}
    </>
  );
}

function Backups({ system: { backups } }: { system: System }) {
  return (
    <Section name="Backups">
      <Row name="Last backup">{backups && <LastBackup last={backups.last} />}</Row>
    </Section>
  );
}

function LastBackup({ last }: { last: Schemas['SystemBackup'] | null }) {
  return (
    <>
      <StateBadge state={backupState(last)} />
      {backupWords(last).map((words) => (
        <div key={words} className="hint">
          {words}
        </div>
      ))}
      <Anchor size="sm" href={`${DOCS_URL}backup`} target="_blank" rel="noopener">
        Backup and restore
      </Anchor>
    </>
  );
}

function Versions({ system: { versions } }: { system: System }) {
  return (
    <Section name="Versions">
      <Row name="Framelane">{versions.framelane}</Row>
      <Row name="Database schema">{versions.schema}</Row>
      <Row name="PostgreSQL">{versions.postgresql}</Row>
      <Row name="Node.js">{versions.node}</Row>
    </Section>
  );
}

function Section({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name}>
      <Title order={2} size="h4">
        {name}
      </Title>
      <dl className="facts">{children}</dl>
    </section>
  );
}

/** A value of null could not be read. */
function Row({ name, children }: { name: string; children: ReactNode | null }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children ?? <StateBadge state={UNKNOWN} />}</dd>
    </>
  );
}

function StateBadge({ state: { words, colour } }: { state: State }) {
  return (
    <Badge variant="light" color={colour}>
      {words}
    </Badge>
  );
}
