import { type Variant, videoCodecOf } from '../playlists/master-playlist.ts';
import { isSoundAlone, type Presentation } from '../presentation.ts';
import { type Finding, judged, notApplicable, type Rule } from '../rule.ts';

/** Rules that compare a presentation with facts from the service. */
export const SERVICE_RULES: readonly Rule[] = [
  {
    id: 'service.variants',
    level: 'own',
    source: 'Framelane API, variants',
    sentence:
      'The API lists the variants of the master playlist, without those that repeat them in HEVC or AV1.',
    check: (presentation, { variants }) => {
      if (variants === undefined) return notApplicable('the variants of the API are unknown');
      if (presentation.master === null) return notApplicable('there is no master playlist');
      // The API lists variants with video.
      const listed = isSoundAlone(presentation)
        ? []
        : presentation.master.variants.filter((variant) => !isRepeated(variant)).map(folderOf);
      return judged(differences(new Set(listed), new Set(variants), 'the master playlist', 'the API'));
    },
  },
  {
    id: 'service.stored-segments',
    level: 'own',
    source: 'Framelane storage',
    sentence: 'The playlists list exactly the stored segments.',
    check: (presentation, { storedSegments }) => {
      if (storedSegments === undefined) return notApplicable('it is not known what is stored');
      return judged(
        differences(listedSegments(presentation), new Set(storedSegments), 'a playlist', 'the storage'),
      );
    },
  },
];

function isRepeated(variant: Variant): boolean {
  const codec = videoCodecOf(variant);
  return codec === 'HEVC' || codec === 'AV1';
}

/** `720p` of `…/720p/index.m3u8`. */
function folderOf({ url }: Pick<Variant, 'url'>): string {
  return new URL(url).pathname.split('/').at(-2) ?? '';
}

/** The last two parts of each path, e.g. `720p/0.ts`. Other hosts may serve them. */
function listedSegments({ renditions, iFrames }: Presentation): Set<string> {
  const urls = [...renditions, ...iFrames].flatMap(({ segments }) => segments.map(({ url }) => url));
  return new Set(urls.map((url) => new URL(url).pathname.split('/').slice(-2).join('/')));
}

function differences(one: Set<string>, other: Set<string>, oneName: string, otherName: string): Finding[] {
  const only = (here: Set<string>, there: Set<string>, names: [string, string]) =>
    [...here]
      .filter((place) => !there.has(place))
      .map((place) => ({ place, message: `is in ${names[0]} and not in ${names[1]}` }));
  return [...only(one, other, [oneName, otherName]), ...only(other, one, [otherName, oneName])];
}
