/** What lines of ffmpeg mean when it cannot encode on a device. The first match decides. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /Unknown encoder|Unrecognized option|Option [\w-]+ not found|Unrecognized hwaccel|Invalid device specification|Unknown device type/i,
    'This ffmpeg lacks the encoder or an option of it. Install a build that has it.',
  ],
  [
    /No VA display found|Failed to initialise VAAPI connection|Device creation failed/i,
    'ffmpeg cannot open the device, or finds no VA driver for it. Install the driver, such as intel-media-va-driver or mesa-va-drivers, where ffmpeg runs.',
  ],
  [
    /No usable encoding (?:profile|entrypoint) found/i,
    'The device or its driver does not encode in this codec. Some distributions leave this out of their drivers.',
  ],
  [
    /(?:creating|initializing) an? (?:internal )?MFX session/i,
    "Intel's media library finds no device. Install libmfx-gen1.2, or libmfx1 for processors before the 11th generation.",
  ],
  [
    /Cannot load lib(?:cuda|nvidia-encode)|CUDA_ERROR_NO_DEVICE|CUDA_ERROR_UNKNOWN|CUDA_ERROR_NOT_INITIALIZED|Cannot init CUDA/i,
    "NVIDIA's driver is not visible to ffmpeg. In a container, use the NVIDIA Container Toolkit with the capability video.",
  ],
  [
    /does not support the required nvenc API version/i,
    'The NVIDIA driver is too old for this ffmpeg. Install a newer driver.',
  ],
  [
    /OpenEncodeSessionEx failed: (?:out of memory|incompatible client key)|CUDA_ERROR_OUT_OF_MEMORY/i,
    'The device encodes no more renditions at a time: it has no memory left, or its driver limits the number.',
  ],
  [
    /does not support encoding at size|Frame Dimension less than|(?:Width|Height) \d+ exceeds/i,
    'The device does not encode frames of this size.',
  ],
  [
    /Max B-frames \d+ exceed|B frames as references are not supported/i,
    'The device does not encode B-frames.',
  ],
  [
    /InitializeEncoder failed|incompatible video parameters|invalid video parameters|unsupported \(-3\)|rate.?control/i,
    'The device refuses the parameters of the encoder.',
  ],
  [
    /Failed to (?:sync|end picture|begin picture|upload)|CUDA_ERROR_|EncodePicture failed|device (?:hung|lost)|GPU hang|device failed/i,
    'The device failed while it encoded.',
  ],
  [/Permission denied/i, 'ffmpeg may not open the device.'],
];

/** Why ffmpeg could not encode on a device, from what it wrote to stderr, and what to do about it. */
export function explainDeviceFailure(stderr: string): string {
  const known = CAUSES.find(([pattern]) => pattern.test(stderr))?.[1];
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines.find((line) => CAUSES.some(([pattern]) => pattern.test(line))) ?? lines.at(-1);
  const what = known ?? 'ffmpeg failed on the device.';
  return said === undefined ? what : `${what} ffmpeg: ${said.trim().slice(0, MAX_QUOTED)}`;
}

/** Characters of a line of ffmpeg in a reason. */
const MAX_QUOTED = 200;
