import { unwrap, type Video } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { Section } from '../ui/section.tsx';
import { readRenditions } from './master-playlist.ts';

/** The variants in the master playlist of a ready video. */
export function Renditions({ video }: { video: Video }) {
  const { id, workspaceId, readyAt, renditions = [], audioTracks = [] } = video;
  const { data, error, refetch } = useQuery({
    queryKey: ['renditions', id, readyAt, renditions.length],
    queryFn: async ({ signal }) => {
      const path = { tenant: workspaceId, video: id };
      const request = { params: { path }, parseAs: 'text' as const, signal };
      return readRenditions(await unwrap(api.GET('/hls/{tenant}/{video}/master.m3u8', request)));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Section title="Renditions">
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={1} />}
      {data !== undefined && (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Resolution</th>
                <th scope="col">Peak rate</th>
                <th scope="col">Codecs</th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ resolution, frameRate, bandwidth, codecs }) => (
                <tr key={`${resolution} ${codecs[0]}`}>
                  <td>
                    {resolution?.replace('x', ' × ') ?? 'audio'}
                    {frameRate !== null && <div className="hint">{frameRate} fps</div>}
                  </td>
                  <td>{formatRate(bandwidth)}</td>
                  <td className="code">{codecs.join(' ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {audioTracks.length > 1 && (
        <p className="hint">Audio: {audioTracks.map(({ name }) => name).join(', ')}</p>
      )}
    </Section>
  );
}

/** Bits per second, e.g. `1.8 Mb/s`. */
function formatRate(bits: number): string {
  return bits < 1_000_000 ? `${Math.round(bits / 1000)} kb/s` : `${(bits / 1_000_000).toFixed(1)} Mb/s`;
}
