/**
 * The shortest input that leaving out parts of `input` finds and for which `isEnough` holds. `isEnough` is called `maxTries` times at most.
 */
export async function minimize(
  input: Buffer,
  isEnough: (shorter: Buffer) => Promise<boolean>,
  maxTries: number,
): Promise<Buffer> {
  let shortest = input;
  let tries = 0;
  for (
    let length = Math.ceil(input.length / 2);
    length >= 1 && tries < maxTries;
    length = Math.floor(length / 2)
  ) {
    for (let at = 0; at < shortest.length && tries < maxTries; ) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + length)]);
      tries += 1;
      if (await isEnough(shorter)) shortest = shorter;
      else at += length;
    }
  }
  return shortest;
}
