import { PACKAGING_OF_ALTERNATIVES, type PackagingName } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS, type AlternativeCodec, VIDEO_CODECS } from '@framelane/contracts/renditions';
import { SettingsError } from '@framelane/service-kit/settings';

/** The codecs beside H.264 in a list of codecs, each once and in the order of `ALTERNATIVE_CODECS`. */
export function alternativesIn(codecs: readonly string[]): AlternativeCodec[] {
  return ALTERNATIVE_CODECS.filter((codec) => codecs.includes(codec));
}

/** The codecs beside H.264 in a list with commas, such as `h264,av1`; null if it names anything else. */
export function readCodecs(list: string): AlternativeCodec[] | null {
  const names = list.split(',').map((name) => name.trim());
  const areKnown = names.every((name) => VIDEO_CODECS.some((codec) => codec === name));
  return areKnown ? alternativesIn(names) : null;
}

/** The default codecs beside H.264. Throws a SettingsError if the default packaging cannot carry them. */
export function codecsSettingOf(values: {
  CODECS: AlternativeCodec[] | null;
  PACKAGING: PackagingName;
}): readonly AlternativeCodec[] {
  const { CODECS, PACKAGING } = values;
  const codecs = CODECS ?? [];
  if (codecs.length === 0 || PACKAGING === PACKAGING_OF_ALTERNATIVES) return codecs;
  throw new SettingsError(
    `CODECS: ${codecs.join(' and ')} can only be packed with PACKAGING=${PACKAGING_OF_ALTERNATIVES}. Read "Packaging" in docs/hls.md before you set it.`,
  );
}

/** The codecs beside H.264 of a new video whose request names none: the default, unless the video cannot have it. */
export function codecsUnlessNamed(
  { packaging, audioOnly }: { packaging: PackagingName; audioOnly?: boolean | undefined },
  defaultCodecs: readonly AlternativeCodec[],
): readonly AlternativeCodec[] {
  return packaging === PACKAGING_OF_ALTERNATIVES && !audioOnly ? defaultCodecs : [];
}
