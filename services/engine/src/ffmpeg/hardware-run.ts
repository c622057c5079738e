import type { Hardware } from '@framelane/contracts/hardware';
import { partsOf, type VideoCodec, type VideoRendition } from '@framelane/contracts/renditions';
import type { FrameEncoder, HardwareVariant } from '../encoders/encoder.ts';
import { encoderOfCodec } from '../encoders/encoders.ts';
import { HARDWARE_INTERFACES } from '../encoders/hardware-interfaces.ts';

/** How runs of ffmpeg use a device. */
export type HardwareRun = {
  hardware: Hardware;
  /** Its device file. */
  device: string;
  /** What the device can do, by codec; a codec without an entry is encoded by software. */
  variants: ReadonlyMap<VideoCodec, HardwareVariant>;
};

/** The encoder of a rendition on the device; undefined if software encodes it. */
export function deviceEncoder(
  name: VideoRendition,
  run: Pick<HardwareRun, 'hardware' | 'variants'> | undefined,
): FrameEncoder | undefined {
  const { codec } = partsOf(name);
  const variant = run?.variants.get(codec);
  const encoder = run && encoderOfCodec(codec).hardware[run.hardware];
  if (variant === undefined || encoder === undefined) return undefined;
  const { program, options } = encoder;
  return { program, options: (demands) => [...options(demands), ...variant.options] };
}

/** Options of ffmpeg before its inputs. */
export function deviceOptions(run: HardwareRun | undefined): readonly string[] {
  return run === undefined ? [] : HARDWARE_INTERFACES[run.hardware].inputOptions(run.device);
}

/** The filters between the frames of a rendition and its encoder; undefined without any. */
export function uploadOf(name: VideoRendition, run: HardwareRun | undefined): string | undefined {
  return run && deviceEncoder(name, run) && HARDWARE_INTERFACES[run.hardware].upload;
}
