/** From this profile on, a sequence parameter set has more fields (ISO/IEC 14496-10 §7.3.2.1.1). */
const HIGH = 100;

/** Makes a sequence parameter set declare a codec string, in place. Throws if that has another set of fields. */
export function declareIn(set: Buffer, codecs: string): void {
  const declared = declaredBy(codecs);
  if ((set[1] ?? 0) >= HIGH !== (declared[0] ?? 0) >= HIGH)
    throw new Error(`The encoder has not used the profile of ${codecs}`);
  // The three bytes after the header are the profile, the constraints and the level.
  declared.copy(set, 1);
}

/** Profile, constraints and level of a codec string. Throws if it is another codec. */
export function declaredBy(codecs: string): Buffer {
  const declared = Buffer.from(codecs.replace('avc1.', ''), 'hex');
  if (declared.length !== 3) throw new Error(`Not H.264: ${codecs}`);
  return declared;
}
