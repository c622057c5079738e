import type { FailureCode } from '@framelane/contracts/failures';
import type { ToolError } from './tool-error.ts';
import { TranscodeFailure } from './transcode-failure.ts';

type Verdict = { code: FailureCode; message: string; retryable: boolean };

const engineTrouble = (message: string): Verdict => ({ code: 'internal_error', message, retryable: true });
const fileAtFault = (code: FailureCode, message: string): Verdict => ({ code, message, retryable: false });

/** What lines of stderr mean. The first that fits decides; trouble of the machine comes before most faults of the file. */
const SIGNS: readonly (readonly [RegExp, Verdict])[] = [
  // ffmpeg calls the refusal of a track a want of memory as well.
  [/exceeds max_streams/, fileAtFault('malformed_media', 'The file has too many tracks.')],
  [/No space left on device|Disk quota exceeded/, engineTrouble('The engine ran out of disk space.')],
  [/Cannot allocate memory|Resource temporarily unavailable/, engineTrouble('The engine ran out of memory.')],
  [
    /^(bwrap|prlimit|setpriv|setsid|nice|env): |error while loading shared libraries/m,
    engineTrouble('The engine could not start its tools.'),
  ],
  [
    /(Format|Protocol '[^']*') not on whitelist/,
    fileAtFault('not_a_video', 'The file is not in a supported video format.'),
  ],
  [
    /Codec \([^)]*\) not on whitelist|Decoder .* not found|Decoding requested, but no decoder/,
    fileAtFault('unsupported_codec', 'The file uses a codec that is not supported.'),
  ],
  [
    /exceeds specified max pixel count|Picture size \d+x\d+ is invalid/,
    fileAtFault('dimensions_exceeded', 'The picture is too large.'),
  ],
  [/moov atom not found/, fileAtFault('malformed_media', 'The file is incomplete: its index is missing.')],
];

const DEFAULTS: Record<'probe' | 'encode', Verdict> = {
  probe: fileAtFault('not_a_video', 'The file is not a video, or it is damaged beyond reading.'),
  encode: fileAtFault('transcode_failed', 'The video could not be transcoded.'),
};

/** Turns a failure of ffmpeg or ffprobe into one for the owner of the video. */
export function explainToolError(error: ToolError, stage: 'probe' | 'encode'): TranscodeFailure {
  const { code, message, retryable } = verdict(error, stage);
  return new TranscodeFailure(code, message, { retryable, cause: error });
}

function verdict({ end, stderr }: ToolError, stage: 'probe' | 'encode'): Verdict {
  if (end === 'timeout' || end === 'stalled') {
    return { code: 'transcode_timeout', message: 'Transcoding took too long.', retryable: true };
  }
  if (end === 'talkative') return fileAtFault('malformed_media', 'The file has too much to say of itself.');
  const sign = SIGNS.find(([pattern]) => pattern.test(stderr));
  if (sign) return sign[1];
  // In practice the kernel sends it, to whatever takes the most memory of a machine that has none left.
  if (end === 'forced') return engineTrouble('The engine ran out of memory.');
  // A crash, or a limit: not proven to be the file's fault.
  if (end === 'killed') return { ...DEFAULTS.encode, retryable: true };
  return DEFAULTS[stage];
}
