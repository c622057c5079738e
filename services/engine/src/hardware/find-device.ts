import { HARDWARE_INTERFACES } from '../encoders/hardware-interfaces.ts';
import { accessToDevice, type DeviceAccess, DeviceError } from '../sandbox/device-access.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';

/** What ffmpeg needs to use the device of the settings; the reason if the engine cannot give it that. */
export async function findDevice({
  kind,
  device,
}: NonNullable<TranscodeSettings['hardware']>): Promise<
  { access: DeviceAccess; reservesAddressSpace: boolean } | DeviceError
> {
  const { devices, readable, reservesAddressSpace } = HARDWARE_INTERFACES[kind];
  const others = devices(device).filter((path) => path !== device);
  try {
    return { access: await accessToDevice(device, { others, readable }), reservesAddressSpace };
  } catch (error) {
    if (error instanceof DeviceError) return error;
    throw error;
  }
}
