import { join } from 'node:path';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';

/** Bit rates of the samples. `web` is below the maximum of its rung, so it allows a stream copy. `camera` is typical of phones. */
export const SAMPLE_RATES = { web: '4500k', camera: '17M' } as const;

/**
 * Thirty seconds of 1080p H.264 with stereo AAC and a key frame every two seconds: four scenes with slow and fast motion,
 * flat and detailed areas, and some grain. At CRF 23 without maximum bit rates, the renditions have about 6, 2, 1 and 0.6 Mb/s.
 */
export async function makeSample(directory: string, kind: keyof typeof SAMPLE_RATES): Promise<string> {
  const path = join(directory, `${kind}.mp4`);
  const seconds = 7.5;
  const still = `s=1920x1080:r=30:d=${seconds}`;
  // The noise follows the conversion, as on packed RGB it would be much stronger.
  const scenes = [
    `gradients=${still}:speed=0.03:nb_colors=8:seed=3,format=yuv420p,noise=alls=7:allf=t`,
    'mandelbrot=s=1920x1080:r=30:maxiter=300:start_scale=0.4:end_scale=0.02:end_pts=225',
    `testsrc2=${still},rotate=a=t/9:ow=iw:oh=ih,format=yuv420p,noise=alls=6:allf=t`,
    [
      'life=s=480x270:r=10:mold=10:life_color=#706860:death_color=#485058:ratio=0.2:seed=5',
      'scale=1920:1080,fps=30,gblur=sigma=3',
    ].join(','),
  ];
  const cut = `trim=duration=${seconds},setpts=PTS-STARTPTS,format=yuv420p,setsar=1`;
  const graph = [
    ...scenes.map((scene, at) => `${scene},${cut}[scene${at}]`),
    `${scenes.map((_, at) => `[scene${at}]`).join('')}concat=n=${scenes.length}[video]`,
    'aevalsrc=0.3*sin(440*t*PI)*sin(t)|0.3*sin(330*t*PI):s=48000:d=30,volume=0.5[audio]',
  ];
  const rate = SAMPLE_RATES[kind];
  await ffmpeg(
    ...['-filter_complex', graph.join(';'), '-map', '[video]', '-map', '[audio]', '-t', '30'],
    ...['-c:v', 'libx264', '-preset', 'fast', '-crf', '18', '-maxrate', rate, '-bufsize', rate],
    ...['-g', '60', '-sc_threshold', '0', '-c:a', 'aac', '-b:a', '128k'],
    path,
  );
  return path;
}

/** The same packets in a container that does not allow a stream copy. */
export async function withoutCopy(directory: string, path: string): Promise<string> {
  const copy = join(directory, 'without-copy.ts');
  await ffmpeg('-i', path, '-map', '0:v:0', '-map', '0:a:0?', '-c', 'copy', copy);
  return copy;
}

/** The clips that `makeQualityClips` can make. */
export const QUALITY_CLIPS = ['slides', 'motion', 'grain', 'screen'] as const;

/**
 * Clips of 1080p that differ in what makes them hard to encode: motion and detail, grain, text with sharp edges, and slides, which are
 * still. Their frames are stored without loss.
 */
export async function makeQualityClips(directory: string, names: readonly string[]): Promise<string[]> {
  const still = 's=1920x1080:r=30:d=4';
  const text = "drawtext=text='The quick brown fox jumps over the lazy dog 0123456789':fontsize";
  const slide = (colour: string, title: string) =>
    `color=${colour}:s=1920x1080:r=30:d=8.4,drawtext=text='${title}':fontsize=96:x=120:y=120,${text}=40:x=160:y=400,${text}=40:x=160:y=520,format=yuv420p`;
  const clips: Record<(typeof QUALITY_CLIPS)[number], string[]> = {
    slides: [
      `${slide('white', 'Storage')}[a]`,
      `${slide('0xe8e8d0', 'Encoders')}[b]`,
      `${slide('white', 'Delivery')}[c]`,
      '[a][b]xfade=fade:0.4:8[d]',
      '[d][c]xfade=slideleft:0.4:16',
    ],
    motion: [
      'mandelbrot=s=1920x1080:r=30:maxiter=300:start_scale=0.4:end_scale=0.02:end_pts=180,trim=duration=4[a]',
      [
        'life=s=480x270:r=10:mold=10:life_color=#706860:death_color=#485058:ratio=0.2:seed=5',
        'scale=1920:1080,fps=30,gblur=sigma=3,trim=duration=4,setsar=1[b]',
      ].join(','),
      '[a][b]concat=n=2',
    ],
    grain: [
      `gradients=${still}:speed=0.03:nb_colors=8:seed=3[a]`,
      'mandelbrot=s=1920x1080:r=30:maxiter=100:start_scale=0.1:end_scale=0.05:end_pts=180,trim=duration=4[b]',
      '[a][b]concat=n=2,format=yuv420p,noise=alls=10:allf=t',
    ],
    screen: [
      `testsrc2=${still},rotate=a=t/9:ow=iw:oh=ih,format=yuv420p[a]`,
      `color=white:${still},${text}=40:x=100-t*60:y=200+t*90,${text}=64:x=80:y=600-t*80,format=yuv420p[b]`,
      '[a][b]concat=n=2',
    ],
  };
  return Promise.all(
    QUALITY_CLIPS.filter((name) => names.includes(name)).map(async (name) => {
      const chains = clips[name];
      const path = join(directory, `${name}.mkv`);
      const frames = ['-filter_complex', `${chains.join(';')},format=yuv420p,setsar=1[out]`, '-map', '[out]'];
      await ffmpeg(...frames, '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '0', path);
      return path;
    }),
  );
}
