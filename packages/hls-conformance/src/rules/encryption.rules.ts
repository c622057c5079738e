import type { KeyTag } from '../playlists/media-playlist.ts';
import { type LoadedSegment, type Rendition, shortAddress } from '../presentation.ts';
import { type Finding, judged, judgeEach, notApplicable, type Rule, segmentPlace } from '../rule.ts';

type Encrypted = { rendition: Rendition; segment: LoadedSegment; key: KeyTag };

const KEY_BYTES = 16;
const NOT_ENCRYPTED = 'nothing is encrypted with AES-128';

/** Rules for encryption with METHOD=AES-128. */
export const ENCRYPTION_RULES: readonly Rule[] = [
  {
    id: 'encryption.everything',
    level: 'own',
    source: 'RFC 8216 §4.3.2.4',
    sentence: 'Every segment is encrypted with METHOD=AES-128.',
    check: ({ renditions, iFrames }) =>
      judgeEach([...renditions, ...iFrames], 'there is no media playlist', ({ name, segments }) =>
        segments
          .filter(({ key }) => key?.method !== 'AES-128')
          .map((segment) => ({
            place: segmentPlace(name, segment),
            message: segment.key === null ? 'has no EXT-X-KEY' : `has METHOD=${segment.key.method}`,
          })),
      ),
  },
  {
    id: 'encryption.key',
    level: 'must',
    source: 'RFC 8216 §4.3.2.4, §5.1',
    sentence: 'The response to a request for a key is exactly its 16 bytes.',
    check: ({ keys, url }) =>
      judgeEach(keys, NOT_ENCRYPTED, (key) =>
        key.bytes === KEY_BYTES
          ? []
          : [{ place: shortAddress(key.url, url), message: `the key has ${key.bytes} bytes` }],
      ),
  },
  {
    id: 'encryption.whole-segments',
    level: 'must',
    source: 'RFC 8216 §4.3.2.4, §5.2',
    sentence:
      'A segment is encrypted as a whole: AES-128-CBC with PKCS#7 padding. The vector is IV or the media sequence number.',
    check: ({ renditions, keys }) => {
      const encrypted = encryptedSegments(renditions);
      // Segments cannot be checked without a usable key.
      const usable = encrypted.filter(({ key }) =>
        keys.some(({ url, bytes }) => url === key.url && bytes === KEY_BYTES),
      );
      const reason = encrypted.length > 0 ? 'there is no usable key' : NOT_ENCRYPTED;
      return judgeEach(usable, reason, ({ rendition, segment: { decryption, ...segment } }) =>
        decryption.state === 'failed'
          ? [{ place: segmentPlace(rendition.name, segment), message: decryption.violation }]
          : [],
      );
    },
  },
  {
    id: 'encryption.vectors',
    level: 'must',
    source: 'NIST SP 800-38A §6.2; RFC 8216 §5.2',
    sentence: 'No IV is used for two segments with the same key.',
    check: ({ renditions }) => {
      const encrypted = encryptedSegments(renditions);
      if (encrypted.length === 0) return notApplicable(NOT_ENCRYPTED);
      const users = Map.groupBy(
        encrypted.filter(({ key }) => key.vector !== null),
        ({ key }) => `${key.url} ${key.vector?.toString('hex')}`,
      );
      return judged([...users.values()].flatMap(sharedVector));
    },
  },
  {
    id: 'encryption.one-key',
    level: 'own',
    source: 'RFC 8216 §4.3.2.4',
    sentence: 'The whole video has one key.',
    check: ({ keys, url }) => {
      if (keys.length === 0) return notApplicable(NOT_ENCRYPTED);
      const places = keys.slice(1).map((key) => shortAddress(key.url, url));
      return judged(places.map((place) => ({ place, message: 'is another key than the first one' })));
    },
  },
];

function encryptedSegments(renditions: readonly Rendition[]): Encrypted[] {
  return renditions.flatMap((rendition) =>
    rendition.segments.flatMap((segment) => {
      const { key } = segment;
      return key?.method === 'AES-128' && key.keyFormat === null ? [{ rendition, segment, key }] : [];
    }),
  );
}

function sharedVector(users: readonly Encrypted[]): Finding[] {
  const addresses = new Set(users.map(({ segment }) => segment.url));
  const [first] = users;
  if (!first || addresses.size === 1) return [];
  const message = `the IV 0x${first.key.vector?.toString('hex')} is used for ${addresses.size} segments`;
  return [{ place: segmentPlace(first.rendition.name, first.segment), message }];
}
