/** File names that are taken for media. What is inside decides the engine. */
const VIDEO = /\.(?:3gp|avi|flv|m2ts|m4v|mkv|mov|mp4|mpe?g|mts|mxf|ogv|ts|vob|webm|wmv)$/i;
const AUDIO = /\.(?:aac|aif|aiff|flac|m4a|mp3|oga|ogg|opus|wav)$/i;
const CAPTIONS = /\.(?:vtt|srt)$/i;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/;

/** A media file, and the files beside it that belong to it. All are names in the same folder. */
export type MediaFile = {
  media: string;
  audioOnly: boolean;
  json?: string;
  captions: { name: string; language: string }[];
  chapters?: string;
  poster?: string;
};

/**
 * Finds the media among the names of a folder, and for `x.mp4`: `x.json`, `x.vtt`, `x.en.vtt`, `x.chapters.vtt` and `x.jpg`. Captions can also
 * be `.srt`; those without a language are `und`. Names that begin with a dot are ignored.
 */
export function findMedia(names: readonly string[]): MediaFile[] {
  const visible = names.filter((name) => !name.startsWith('.')).sort();
  const present = new Set(visible);
  const captions = captionsByStem(visible);
  return visible.filter(isMediaName).map((media) => {
    const stem = withoutExtension(media);
    const named = (name: string) => (present.has(name) ? name : undefined);
    const [json, chapters, poster] = [`${stem}.json`, `${stem}.chapters.vtt`, `${stem}.jpg`].map(named);
    return {
      media,
      audioOnly: AUDIO.test(media),
      captions: captions.get(stem) ?? [],
      ...(json && { json }),
      ...(chapters && { chapters }),
      ...(poster && { poster }),
    };
  });
}

/** Whether a name has the extension of a media file. */
export function isMediaName(name: string): boolean {
  return VIDEO.test(name) || AUDIO.test(name);
}

export function withoutExtension(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? name : name.slice(0, dot);
}

function captionsByStem(names: readonly string[]): Map<string, MediaFile['captions']> {
  const found = new Map<string, MediaFile['captions']>();
  const add = (stem: string, entry: MediaFile['captions'][number]) =>
    found.set(stem, [...(found.get(stem) ?? []), entry]);
  for (const name of names.filter((one) => CAPTIONS.test(one))) {
    const stem = withoutExtension(name);
    const dot = stem.lastIndexOf('.');
    const language = dot > 0 ? stem.slice(dot + 1) : '';
    if (LANGUAGE.test(language)) add(stem.slice(0, dot), { name, language });
    add(stem, { name, language: 'und' });
  }
  return found;
}
