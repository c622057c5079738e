import { type Finding, failed, passed, warning } from './finding.ts';

/** Events that the engine logs while it looks at its programs, by name. */
export type MediaEvents = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** What the engine has found out about its programs: the events that it has logged, and the error that has ended it. */
export function mediaFindings(events: MediaEvents, error: Error | undefined): Finding[] {
  return [...sandboxFindings(events, error), ...ffmpegFindings(events, error)];
}

function sandboxFindings(events: MediaEvents, error: Error | undefined): Finding[] {
  const chosen = events.get('sandbox.chosen');
  if (chosen) return [passed('Sandbox', `${chosen.sandbox} confines ffmpeg`)];
  const none = events.get('sandbox.none');
  if (none) return [warning('Sandbox', 'ffmpeg runs without one', String(none.advice))];
  return error === undefined ? [] : [failed('Sandbox', error.message)];
}

/** Empty if the sandbox has failed, because ffmpeg was not started then. */
function ffmpegFindings(events: MediaEvents, error: Error | undefined): Finding[] {
  const wasStarted = events.has('sandbox.chosen') || events.has('sandbox.none');
  if (error !== undefined) return wasStarted ? [failed('ffmpeg', error.message)] : [];
  const outdated = events.get('ffmpeg.outdated');
  const lacking = events.get('ffmpeg.lacks_encoders');
  const version = `version ${events.get('ffmpeg.found')?.version}`;
  return [
    outdated
      ? warning(
          'ffmpeg',
          `${version} has known vulnerabilities, unless the distribution has fixed them`,
          String(outdated.advice),
        )
      : passed('ffmpeg', version),
    lacking
      ? warning(
          'Encoders',
          `AV1 or HEVC cannot be made: ${[lacking.encoders].flat().join(', ')} missing`,
          String(lacking.advice),
        )
      : passed('Encoders', 'H.264, AV1, HEVC, AAC and all filters'),
  ];
}
