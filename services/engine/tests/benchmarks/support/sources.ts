import { join } from 'node:path';
import { ffmpeg } from '../../support/media.ts';

/**
 * Thirty seconds of 1080p H.264 with stereo AAC, as a camera or an editor might deliver them: slow and quick motion, flat
 * and detailed parts, some grain, four scenes. Key frames are two seconds apart and the bit rate is below 5 Mb/s, so its
 * video can be kept as the top rung.
 */
export async function makeSample(directory: string): Promise<string> {
  const path = join(directory, 'sample.mp4');
  const seconds = 7.5;
  const still = `s=1920x1080:r=30:d=${seconds}`;
  const scenes = [
    `gradients=${still}:speed=0.01:nb_colors=6:seed=7,noise=alls=3:allf=t`,
    'mandelbrot=s=1920x1080:r=30:maxiter=300:start_scale=0.4:end_scale=0.02:end_pts=225',
    `testsrc2=${still},gblur=sigma=2,rotate=a=t/9:ow=iw:oh=ih,noise=alls=2:allf=t`,
    `gradients=${still}:speed=0.04:nb_colors=8:seed=3,noise=alls=5:allf=t`,
  ];
  const cut = `trim=duration=${seconds},setpts=PTS-STARTPTS,format=yuv420p,setsar=1`;
  const graph = [
    ...scenes.map((scene, at) => `${scene},${cut}[scene${at}]`),
    `${scenes.map((_, at) => `[scene${at}]`).join('')}concat=n=${scenes.length}[video]`,
    'aevalsrc=0.3*sin(440*t*PI)*sin(t)|0.3*sin(330*t*PI):s=48000:d=30,volume=0.5[audio]',
  ];
  await ffmpeg(
    ...['-filter_complex', graph.join(';'), '-map', '[video]', '-map', '[audio]', '-t', '30'],
    ...['-c:v', 'libx264', '-preset', 'fast', '-crf', '18', '-maxrate', '4500k', '-bufsize', '6000k'],
    ...['-g', '60', '-sc_threshold', '0', '-c:a', 'aac', '-b:a', '128k'],
    path,
  );
  return path;
}

/** The same packets in a container of which nothing is kept. */
export async function unkeepable(directory: string, path: string): Promise<string> {
  const copy = join(directory, 'unkeepable.ts');
  await ffmpeg('-i', path, '-map', '0:v:0', '-map', '0:a:0?', '-c', 'copy', copy);
  return copy;
}
