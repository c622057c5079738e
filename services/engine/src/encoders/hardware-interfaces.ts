import type { Hardware } from '@framelane/contracts/hardware';

/** How ffmpeg uses the devices of an interface, whatever the codec. */
export type HardwareInterface = {
  /** The device if the setting names none. */
  defaultDevice: string;
  /** The device files that ffmpeg opens for a device; missing ones beside that of the device itself are left out. */
  devices: (device: string) => readonly string[];
  /** Other files and folders that the driver's libraries read. */
  readable: readonly string[];
  /** Renditions that a device encodes at a time; null if its memory alone limits them. */
  sessions: number | null;
  /** Whether the driver's libraries reserve more address space than a limit for ffmpeg allows. */
  reservesAddressSpace: boolean;
  /** Options of ffmpeg before the input. */
  inputOptions: (device: string) => readonly string[];
  /** The filters from 8-bit 4:2:0 in memory to what its encoders accept; undefined if they accept that. */
  upload: string | undefined;
};

const RENDER_NODE = '/dev/dri/renderD128';

export const HARDWARE_INTERFACES: Record<Hardware, HardwareInterface> = {
  vaapi: {
    defaultDevice: RENDER_NODE,
    devices: (device) => [device],
    readable: [],
    sessions: null,
    reservesAddressSpace: false,
    inputOptions: (device) => ['-init_hw_device', `vaapi=device:${device}`, '-filter_hw_device', 'device'],
    upload: 'format=nv12,hwupload',
  },
  // A session that is derived from VAAPI uses the device of VAAPI. Otherwise Intel's library chooses one.
  qsv: {
    defaultDevice: RENDER_NODE,
    devices: (device) => [device],
    readable: [],
    sessions: null,
    reservesAddressSpace: false,
    inputOptions: (device) => [
      ...['-init_hw_device', `vaapi=node:${device}`],
      ...['-init_hw_device', 'qsv=device@node', '-filter_hw_device', 'device'],
    ],
    upload: 'format=nv12',
  },
  nvenc: {
    defaultDevice: '/dev/nvidia0',
    devices: (device) => [device, '/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools'],
    readable: ['/proc/driver/nvidia', '/proc/devices'],
    // Of GeForce, since driver 550.
    sessions: 8,
    reservesAddressSpace: true,
    // The encoder opens the first device that it sees.
    inputOptions: () => [],
    upload: undefined,
  },
};
