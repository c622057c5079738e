import type { FailureCode } from '@framelane/contracts/failures';
import { TranscodeFailure } from '../transcode-failure.ts';
import { ToolError } from './run-tool.ts';

type Verdict = { code: FailureCode; message: string; retryable: boolean };

const engineTrouble = (message: string): Verdict => ({ code: 'internal_error', message, retryable: true });
const fileAtFault = (code: FailureCode, message: string): Verdict => ({ code, message, retryable: false });

const CHANGED_SOUND = /Changing audio frame properties on the fly/;

/** Whether ffmpeg failed because decoded audio changed its layout, rate or format. */
export function isAudioFormatChange(error: unknown): boolean {
  return error instanceof ToolError && CHANGED_SOUND.test(error.stderr);
}

const OUT_OF_MEMORY = /Cannot allocate memory/;

/** What lines of stderr mean. The first that fits decides; trouble of the machine comes before most faults of the file. */
const SIGNS: readonly (readonly [RegExp, Verdict])[] = [
  // ffmpeg calls the refusal of a track a want of memory as well.
  [/exceeds max_streams/, fileAtFault('malformed_media', 'The file has too many tracks.')],
  [/No space left on device|Disk quota exceeded/, engineTrouble('The engine ran out of disk space.')],
  [
    /^(bwrap|prlimit|setpriv|setsid|nice|env): |error while loading shared libraries/m,
    engineTrouble('The engine could not start its tools.'),
  ],
  [OUT_OF_MEMORY, engineTrouble('The engine ran out of memory.')],
  [/Resource temporarily unavailable/, engineTrouble('The engine ran out of threads.')],
  [
    /(Format|Protocol '[^']*') not on whitelist/,
    fileAtFault('not_a_video', 'The file is not in a supported video format.'),
  ],
  [
    /Decoder .* not found|Decoding requested, but no decoder/,
    fileAtFault('unsupported_codec', 'The file uses a codec that is not supported.'),
  ],
  [
    /exceeds specified max pixel count|Picture size \d+x\d+ is invalid/,
    fileAtFault('dimensions_exceeded', 'The picture is too large.'),
  ],
  [
    CHANGED_SOUND,
    fileAtFault(
      'transcode_failed',
      'The audio changes its channels, sample rate or format on the way, which is not supported.',
    ),
  ],
  [/moov atom not found/, fileAtFault('malformed_media', 'The file is incomplete: its index is missing.')],
];

const DEFAULTS: Record<'probe' | 'encode', Verdict> = {
  probe: fileAtFault('not_a_video', 'The file is not a video, or it is damaged beyond reading.'),
  encode: fileAtFault('transcode_failed', 'The video could not be transcoded.'),
};

/** What ffprobe writes last of a track whose decoder it could not open: the decoder's name if it may not, and the track's index. */
const UNOPENED_TRACK =
  /(?:Codec \(([^)\n]*)\) not on whitelist[^\n]*\n)?Could not open codec for input stream (\d+)/;

function unopenedTrack(number: number, decoder: string | undefined): Verdict {
  return decoder === undefined
    ? fileAtFault('malformed_media', `Track ${number} cannot be decoded.`)
    : fileAtFault('unsupported_codec', `Track ${number} uses the codec ${decoder}, which is not supported.`);
}

/** Turns a failure of ffmpeg or ffprobe into one for the owner of the video. */
export function explainToolError(error: ToolError, stage: 'probe' | 'encode'): TranscodeFailure {
  const { code, message, retryable } = verdict(error, stage);
  return new TranscodeFailure(code, message, { retryable, cause: error });
}

function verdict({ end, stderr }: ToolError, stage: 'probe' | 'encode'): Verdict {
  if (end === 'timeout' || end === 'stalled') {
    // Reading has far more time than any video needs: the same file would spend it again.
    return stage === 'probe'
      ? fileAtFault('transcode_timeout', 'Reading the file took too long.')
      : { code: 'transcode_timeout', message: 'Transcoding took too long.', retryable: true };
  }
  if (end === 'memory')
    return fileAtFault('transcode_failed', 'The video takes too much memory to transcode.');
  if (end === 'output_limit')
    return fileAtFault('malformed_media', 'The description of the file is too long.');
  const sign = SIGNS.find(([pattern]) => pattern.test(stderr));
  // ffprobe holds the index of the file and a few frames. Its limit on memory is far above that.
  if (stage === 'probe' && sign?.[0] === OUT_OF_MEMORY) {
    return fileAtFault('malformed_media', 'The file takes too much memory to read.');
  }
  if (sign) return sign[1];
  const unopened = UNOPENED_TRACK.exec(stderr);
  if (unopened) return unopenedTrack(Number(unopened[2]) + 1, unopened[1]);
  // In practice the kernel sends it, to whatever takes the most memory of a machine that has none left.
  if (end === 'sigkill') return engineTrouble('The engine ran out of memory.');
  // A crash, or a limit: not proven to be the file's fault.
  if (end === 'killed') return { ...DEFAULTS.encode, retryable: true };
  return DEFAULTS[stage];
}
