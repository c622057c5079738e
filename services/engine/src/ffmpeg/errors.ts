import type { TranscodeFailureCode } from '@framelane/contracts/failures';
import { SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { AUDIO_ONLY_ADVICE } from '../source/source-checks.ts';
import { MAX_PIXELS, MAX_SIDE } from '../source/whitelist.ts';
import { TranscodeFailure } from '../transcode-failure.ts';

type Verdict = { code: TranscodeFailureCode; message: string; retryable: boolean };

const engineFault = (message: string): Verdict => ({ code: 'internal_error', message, retryable: true });
const fileFault = (code: TranscodeFailureCode, message: string): Verdict => ({
  code,
  message,
  retryable: false,
});

const AUDIO_FORMAT_CHANGE = /Changing audio frame properties on the fly/;

/** ffmpeg's name for an input of a filter graph contains the index of the track, since version 7 after a colon. */
const INDEX_OF_INPUT = /\[graph_\d+_in_0[_:](\d+) @/;

/**
 * The track whose decoded audio changed its channel layout, sample rate or format, so that ffmpeg failed. Null if ffmpeg did not
 * fail for this reason; the index is NaN if ffmpeg does not name the track.
 */
export function audioFormatChange(error: unknown): { index: number } | null {
  if (!(error instanceof ToolError)) return null;
  const line = linesOf(error).find((text) => AUDIO_FORMAT_CHANGE.test(text));
  return line === undefined ? null : { index: Number(INDEX_OF_INPUT.exec(line)?.[1]) };
}

const OUT_OF_MEMORY = /Cannot allocate memory/;

const OUT_OF_THREADS = /Resource temporarily unavailable/;

/** A decoder has refused a packet: in the words of ffmpeg 5, and from version 6 on. */
const REFUSED_PACKET = /^Error while decoding stream |\] Error submitting packet to decoder: /;

const LACK_OF_MEMORY = /Cannot allocate memory|malloc of size/;
const needsTooMuchMemory = fileFault('malformed_media', 'The file needs too much memory to read.');

/** What lines of stderr mean. The first match decides. Faults of the engine come before most faults of the file. */
const PATTERNS: readonly (readonly [RegExp, Verdict])[] = [
  // ffmpeg also reports refused tracks as a lack of memory.
  [/exceeds max_streams/, fileFault('malformed_media', 'The file has too many tracks.')],
  [/No space left on device|Disk quota exceeded/, engineFault('The engine ran out of disk space.')],
  [
    /^(bwrap|prlimit|setpriv|setsid|nice|env): |error while loading shared libraries/m,
    engineFault('The engine could not start its tools.'),
  ],
  [OUT_OF_MEMORY, engineFault('The engine ran out of memory.')],
  [OUT_OF_THREADS, engineFault('The engine ran out of threads.')],
  [
    /^\[(?:mp3|aac|wav|aiff|flac|amr) @ .*Format not on whitelist/m,
    fileFault('not_a_video', `The file has sound alone. Upload a video. ${AUDIO_ONLY_ADVICE}`),
  ],
  [/(?:Format|') not on whitelist/, fileFault('not_a_video', 'The file is not in a supported format.')],
  [
    /\) not found for input stream|Decoding requested, but no decoder/,
    fileFault('unsupported_codec', 'The file uses a codec that is not supported.'),
  ],
  [
    /Picture size (?:0x\d|\d+x0 )/,
    fileFault(
      'malformed_media',
      'The video declares frames without a size. Export it again and upload that.',
    ),
  ],
  [
    /exceeds specified max pixel count|Picture size \d/,
    fileFault(
      'dimensions_exceeded',
      `The video frames are too large; at most ${MAX_SIDE} pixels per side and ${MAX_PIXELS / 1e6} million pixels are allowed.`,
    ),
  ],
  [
    AUDIO_FORMAT_CHANGE,
    fileFault(
      'transcode_failed',
      'The audio changes its channels, sample rate or format within the file, which is not supported.',
    ),
  ],
  [/moov atom not found/, fileFault('malformed_media', 'The file is incomplete: its index is missing.')],
  [
    /Cannot determine format of input /,
    fileFault(
      'malformed_media',
      'A track of the file has no frame that can be decoded. Export the file again and upload that.',
    ),
  ],
  [
    // It looks into the frames for parameter sets that the container does not have.
    /^\[extract_extradata @ /m,
    fileFault(
      'malformed_media',
      'The parameter sets of a track are missing or damaged. Export the file again and upload that.',
    ),
  ],
];

const DEFAULTS: Record<'probe' | 'encode', Verdict> = {
  probe: fileFault('not_a_video', 'The file contains neither video nor sound, or it is too damaged to read.'),
  encode: fileFault('transcode_failed', 'The file could not be transcoded. Export it again and upload that.'),
};

/** ffmpeg's exit code if more than two thirds of the packets cannot be decoded (`max_error_rate`). It names no reason. */
const TOO_MANY_DECODE_ERRORS = /^ffmpeg exited with code 69\b/;
const mostlyDamaged = fileFault(
  'malformed_media',
  'Most frames of the file cannot be decoded. Export the file again and upload that.',
);

/** ffprobe's last lines about a track that it cannot open: the name of the decoder, if that is not allowed, and the track index. */
const REFUSED_DECODER = /Codec \(([^()]*)\) not on whitelist/;
const UNOPENED_TRACK = /Could not open codec for input stream (\d+)/;

function unopenedTrack(lines: readonly string[]): Verdict | null {
  const at = lines.findIndex((line) => UNOPENED_TRACK.test(line));
  if (at === -1) return null;
  const number = Number(UNOPENED_TRACK.exec(lines[at] ?? '')?.[1]) + 1;
  const decoder = REFUSED_DECODER.exec(lines[at - 1] ?? '')?.[1];
  return decoder === undefined
    ? fileFault(
        'malformed_media',
        `Track ${number} cannot be decoded. Export the file again and upload that.`,
      )
    : fileFault('unsupported_codec', `Track ${number} uses the codec ${decoder}, which is not supported.`);
}

/** The failure to report to the owner of the video when ffmpeg or ffprobe fails. */
export function explainToolError(error: ToolError, stage: 'probe' | 'encode'): TranscodeFailure {
  const { code, message, retryable } = verdict(error, stage);
  return new TranscodeFailure(code, message, { retryable, cause: error });
}

/**
 * Whether ffmpeg lacked memory for a packet and for nothing else: then the file declares an absurd size. If ffprobe lacks memory for
 * anything, the file is the cause, too: the limit of ffprobe is far above what the index of a file and a few frames take.
 */
function lacksMemoryForPacketOnly(lines: readonly string[]): boolean {
  return lines.filter((line) => LACK_OF_MEMORY.test(line)).every(saysThatPacketIsUnread);
}

/** From version 6 on, ffmpeg prints the second form. */
function saysThatPacketIsUnread(line: string): boolean {
  const reason = ': Cannot allocate memory';
  if (line.startsWith(`${SOURCE_INPUT}${reason}`)) return true;
  return line.startsWith('[in#0') && line.includes(`] Error during demuxing${reason}`);
}

/** Whether something lacked a thread: decoders report damaged packets by the same error number (libdav1d does). */
function lacksThreads(lines: readonly string[]): boolean {
  return lines.some((line) => OUT_OF_THREADS.test(line) && !REFUSED_PACKET.test(line));
}

function linesOf({ stderr }: ToolError): string[] {
  return stderr.split('\n');
}

function verdict(error: ToolError, stage: 'probe' | 'encode'): Verdict {
  const { end, stderr } = error;
  if (end === 'timeout' || end === 'stalled') {
    // Probing has far more time than any video needs. Another try would time out, too.
    return stage === 'probe'
      ? fileFault('transcode_timeout', 'Reading the file took too long.')
      : { code: 'transcode_timeout', message: 'Transcoding took too long.', retryable: true };
  }
  if (end === 'memory') return fileFault('transcode_failed', 'The file needs too much memory to transcode.');
  if (end === 'output_limit') return fileFault('malformed_media', 'The file contains too much metadata.');
  const match = PATTERNS.find(([pattern]) =>
    pattern === OUT_OF_THREADS ? lacksThreads(linesOf(error)) : pattern.test(stderr),
  );
  if (match?.[0] === OUT_OF_MEMORY && (stage === 'probe' || lacksMemoryForPacketOnly(linesOf(error)))) {
    return needsTooMuchMemory;
  }
  if (match) return match[1];
  const unopened = unopenedTrack(linesOf(error));
  if (unopened) return unopened;
  // When the machine is out of memory, the kernel sends SIGKILL to the process that uses the most.
  if (end === 'sigkill') return engineFault('The engine ran out of memory.');
  // A crash or a resource limit may not be the file's fault, so another try is allowed.
  if (end === 'killed') return { ...DEFAULTS.encode, retryable: true };
  return TOO_MANY_DECODE_ERRORS.test(error.message) ? mostlyDamaged : DEFAULTS[stage];
}
