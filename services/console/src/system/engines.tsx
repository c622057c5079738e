import type { Schemas } from '@framelane/client';
import { Badge, Text, Title } from '@mantine/core';
import { formatAge, formatBytes, formatClock } from '../ui/format.ts';
import { engineState, hardwareWords, loadWords, roleWords, UNKNOWN } from './system-words.ts';

type Engine = Schemas['SystemEngine'];

/** The engines of the installation; null if they could not be read. */
export function Engines({ engines }: { engines: Engine[] | null }) {
  return (
    <section aria-label="Engines">
      <Title order={2} size="h4">
        Engines
      </Title>
      {engines === null && (
        <Badge variant="light" color={UNKNOWN.colour}>
          {UNKNOWN.words}
        </Badge>
      )}
      {engines?.length === 0 && (
        <div className="empty">
          <Text fw={600}>No engine has announced itself.</Text>
          <Text>
            Check that engines run, and that they reach the internal listener of the control plane at
            CONTROL_PLANE_INTERNAL_URL.
          </Text>
        </div>
      )}
      {engines !== null && engines.length > 0 && (
        <ul className="rows">
          {engines.map((engine) => (
            <EngineRow key={engine.id} engine={engine} />
          ))}
        </ul>
      )}
    </section>
  );
}

function EngineRow({ engine }: { engine: Engine }) {
  const { host, port, status, version, nodeVersion, ffmpegVersion, diskFreeBytes, startedAt, lastSeenAt } =
    engine;
  const { words, colour } = engineState(engine);
  const facts = [
    roleWords(engine),
    ...loadWords(engine),
    ...(diskFreeBytes === null ? [] : [`${formatBytes(diskFreeBytes)} free`]),
  ];
  const versions = [
    `Framelane ${version}`,
    ...(ffmpegVersion === null ? [] : [`ffmpeg ${ffmpegVersion}`]),
    `Node.js ${nodeVersion}`,
    `started ${formatAge(startedAt, Date.now())}`,
  ];
  return (
    <li>
      <div className="row-words">
        <span className="row-title">
          {host}:{port}
        </span>
        <span className="hint">{facts.join(' · ')}</span>
        <span className="hint">{versions.join(' · ')}</span>
        {hardwareWords(engine).map((words) => (
          <span key={words} className="hint">
            {words}
          </span>
        ))}
        {status === 'lost' && (
          <span className="hint">
            Silent since {formatClock(lastSeenAt)}. The figures are those of that time.
          </span>
        )}
      </div>
      <Badge variant="light" color={colour}>
        {words}
      </Badge>
    </li>
  );
}
