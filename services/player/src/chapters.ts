/** A chapter in Apple's JSON format, as far as the page reads it. Times are in seconds. */
type Chapter = { 'start-time': number; duration: number; titles: { title: string }[] };

/** After this many milliseconds without a response, the page does without chapters. */
const TIMEOUT_MS = 20_000;

/**
 * Shows chapters in the controls, as cues of a text track; null shows none. Not as `<track src>`: media-chrome can miss the event that its file is
 * loaded (issues 915 and 995). The video can be watched without chapters, so nobody learns of an error.
 */
export async function showChapters(
  media: HTMLMediaElement,
  url: string | null,
  signal: AbortSignal,
): Promise<void> {
  const chapters = url === null ? [] : await fetchChapters(url, signal).catch(() => undefined);
  if (chapters === undefined || signal.aborted) return;
  const existing = [...media.textTracks].find(({ kind }) => kind === 'chapters');
  if (chapters.length === 0 && existing === undefined) return;
  const track = existing ?? media.addTextTrack('chapters');
  track.mode = 'hidden';
  for (const cue of [...(track.cues ?? [])]) track.removeCue(cue);
  for (const cue of cuesOf(chapters)) track.addCue(new VTTCue(cue.start, cue.end, cue.text));
  // media-chrome reads the cues again.
  media.textTracks.dispatchEvent(new Event('change'));
}

/** Chapters as cues. media-chrome reads the text of a cue as HTML. */
export function cuesOf(chapters: readonly Chapter[]): { start: number; end: number; text: string }[] {
  return chapters.map(({ 'start-time': start, duration, titles }) => ({
    start,
    end: start + duration,
    text: escaped(titles[0]?.title ?? ''),
  }));
}

async function fetchChapters(url: string, signal: AbortSignal): Promise<Chapter[]> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  if (!response.ok) throw new Error(`The chapters responded with ${response.status}`);
  return response.json();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
