import { unwrap, type Video } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatBytes } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { codecWords, HDR_CHOICES, PACKAGINGS } from '../ui/packaging-words.ts';
import { Section } from '../ui/section.tsx';
import { readRenditions } from './master-playlist.ts';

/** The stream of a video: how it is packaged, and what it has. */
export function StreamSection({ video }: { video: Video }) {
  return (
    <Section title="Stream">
      <Facts>
        <Fact name="Packaging">{PACKAGINGS[video.packaging].long}</Fact>
        <CodecFacts {...video} />
        <Fact name="Stored">{formatBytes(video.storageBytes)}</Fact>
      </Facts>
      {video.status === 'ready' && <Renditions video={video} />}
    </Section>
  );
}

/** The codecs of a stream that has not only H.264. */
function CodecFacts({ codecs, hdr }: Pick<Video, 'codecs' | 'hdr'>) {
  if (codecs.length < 2) return null;
  return (
    <>
      <Fact name="Codecs of the stream">
        {codecs.map((state) => (
          <div key={state.codec}>{codecWords(state)}</div>
        ))}
      </Fact>
      {hdr === 'keep' && <Fact name="High dynamic range">{HDR_CHOICES.keep.long}</Fact>}
    </>
  );
}

/** The variants in the master playlist of a ready video. */
function Renditions({ video }: { video: Video }) {
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
    <>
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
    </>
  );
}

/** Bits per second, e.g. `1.8 Mb/s`. */
function formatRate(bits: number): string {
  return bits < 1_000_000 ? `${Math.round(bits / 1000)} kb/s` : `${(bits / 1_000_000).toFixed(1)} Mb/s`;
}
