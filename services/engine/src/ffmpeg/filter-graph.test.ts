import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan } from '../../tests/support/tracks.ts';
import { IMAGES } from '../outputs/images/images.ts';
import { planLadder } from '../plan/ladder.ts';
import { filterGraphs, pieceGraph } from './filter-graph.ts';

/** The graphs of a run that also makes the images. */
const graphsOf = (plan: EncodePlan) =>
  filterGraphs(plan, { taps: IMAGES.taps(plan), chains: IMAGES.chains(plan) });
/** The chains of the graph. */
const chains = (changes: Partial<EncodePlan> = {}) => graphsOf(encodePlan(changes))[0]?.split(';') ?? [];
/** The filters of the first chain, from the decoder to the top rendition, without those that every video has. */
const topFilters = (changes: Partial<EncodePlan>) =>
  chains(changes)[0]
    ?.replace(/^\[0:1\]scale=854:480:interl=-1,/, '')
    .replace(/,setsar=1,setparams=.*/, '');

const TAGGED = { colorMatrix: 'bt709', colorPrimaries: 'bt709', colorTransfer: 'bt709' };
const START = 'fps=25/1:start_time=0,tpad=stop_mode=clone:stop=-1,trim=end_frame=50';

describe('the filter graph', () => {
  test('produces renditions, images and audio', () => {
    expect(chains()).toEqual([
      `[0:1]scale=854:480:interl=-1,${START},scale=854:480:out_color_matrix=bt709:out_range=tv,format=yuv420p,setsar=1,` +
        'setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,split=3[480p][to-360p][to-poster]',
      '[to-360p]zscale=640:360:filter=lanczos:range=tv,format=yuv420p,setsar=1,split=2[360p][to-storyboard]',
      '[to-poster]split=2[opening][later]',
      '[opening]trim=end_frame=1[first]',
      '[later]trim=start=0.200,split=2[tenth][candidates]',
      '[tenth]trim=end_frame=1[second]',
      '[candidates]select=gte(t-0.200\\,selected_n*0.5),blackframe=amount=0:threshold=24,' +
        'metadata=mode=select:key=lavfi.blackframe.pblack:value=96:function=less,trim=end_frame=1[bright]',
      '[first][second][bright]concat=n=3,setpts=N/TB,scale=out_color_matrix=bt601:out_range=full,format=yuvj420p[poster]',
      '[to-storyboard]select=gte(t\\,selected_n*1),scale=160:90,setsar=1,split=2[tile][tiles]',
      '[tile]trim=end_frame=1,tile=2x1:nb_frames=1[begun]',
      '[tiles]tile=2x1:nb_frames=2[whole]',
      '[begun][whole]concat=n=2,setpts=N/TB,scale=out_color_matrix=bt601:out_range=full,format=yuvj420p[storyboard]',
      '[0:0]aresample=48000:async=1:first_pts=0,aformat=channel_layouts=stereo,apad,atrim=end_sample=95232[audio]',
    ]);
  });

  test('leaves out the frames before the first one that can be decoded', () => {
    expect(chains({ reading: { firstPicture: 0.4 } })[0]).toMatch(
      /^\[0:1\]trim=start=0\.4,scale=854:480:interl=-1,fps=25\/1:start_time=0,/,
    );
  });

  test('drops every second frame once for the renditions of half the frame rate', () => {
    const videoRenditions = planLadder({ width: 1280, height: 720 }, 50);
    expect(chains({ videoRenditions }).slice(1, 3)).toEqual([
      '[to-480p]framestep=2,zscale=854:480:filter=lanczos:range=tv,format=yuv420p,setsar=1,split=2[480p][to-360p]',
      '[to-360p]zscale=640:360:filter=lanczos:range=tv,format=yuv420p,setsar=1,split=2[360p][to-storyboard]',
    ]);
  });

  test('has frames of a stream copy for images alone', () => {
    const videoRenditions = planLadder({ width: 1280, height: 720 }, 50);
    const [top, next] = chains({ videoRenditions, copiesVideo: true });
    expect(top).toMatch(/trim=end_frame=50,scale=1280:.*,split=2\[to-480p\]\[to-poster\]$/);
    expect(next).toMatch(/^\[to-480p\]framestep=2,zscale=854:.*,split=2\[480p\]\[to-360p\]$/);
    const [full] = chains({
      videoRenditions: planLadder({ width: 1920, height: 1080 }, 25),
      copiesVideo: true,
    });
    expect(full).toMatch(/,scale=1280:.*,split=3\[720p\]\[to-480p\]\[to-poster\]$/);
  });

  test('has no split for a rendition that feeds nothing else', () => {
    const videoRenditions = planLadder({ width: 1920, height: 1080 }, 25);
    const [top, next] = chains({ videoRenditions });
    expect(top).toMatch(/,split=2\[1080p\]\[to-720p\]$/);
    expect(next).toMatch(/,split=3\[720p\]\[to-480p\]\[to-poster\]$/);
    expect(chains({ videoRenditions: videoRenditions.slice(-1) })[0]).toMatch(
      /,split=3\[1080p\]\[to-poster\]\[to-storyboard\]$/,
    );
  });

  test('moves video and audio to an earlier time', () => {
    const graph = chains({ lead: 0.023 });
    expect(graph[0]).toMatch(/interl=-1,setpts=PTS-\(0\.023\)\/TB,fps=/);
    expect(graph.at(-1)).toMatch(/^\[0:0\]asetpts=PTS-\(0\.023\)\/TB,aresample=/);
  });

  test('repeats the last field, whose frame bwdif emits only if another follows', () => {
    expect(topFilters({ deinterlace: 'send_field', pixelsCompatible: true })).toBe(
      `bwdif=mode=send_field:deint=interlaced,tpad=stop_mode=clone:stop=1,${START},format=yuv420p`,
    );
    expect(topFilters({ deinterlace: 'send_frame', pixelsCompatible: true })).toBe(
      `bwdif=mode=send_frame:deint=interlaced,${START},format=yuv420p`,
    );
  });

  test.each([[{ width: 854, height: 482 }], [{ width: 856, height: 480 }]])(
    'scales compatible frames of %j',
    (coded) => {
      expect(chains({ coded, pixelsCompatible: true })[0]).toMatch(
        /end_frame=50,zscale=854:480:filter=lanczos:range=tv,/,
      );
    },
  );

  test.each([
    [
      'of an assumed matrix',
      { assumedMatrix: 'bt601' },
      'scale=854:480:in_color_matrix=bt601:out_color_matrix=bt709:out_range=tv',
    ],
    [
      'of wide primaries',
      { tagged: { ...TAGGED, colorMatrix: 'bt2020nc', colorPrimaries: 'bt2020' } },
      'scale=854:480:out_range=tv,zscale=primariesin=bt2020:transferin=bt709:matrixin=bt2020nc:rangein=tv:primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    ],
    [
      'of wide primaries without a matrix',
      { tagged: { ...TAGGED, colorMatrix: null, colorPrimaries: 'smpte432' }, assumedMatrix: 'bt709' },
      'scale=854:480:out_range=tv,zscale=primariesin=smpte432:transferin=bt709:matrixin=bt709:rangein=tv:primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    ],
    [
      'of primaries of standard definition without a matrix',
      { tagged: { ...TAGGED, colorMatrix: null, colorPrimaries: 'bt470bg' }, assumedMatrix: 'bt601' },
      'scale=854:480:out_range=tv,zscale=primariesin=bt470bg:transferin=bt709:matrixin=smpte170m:rangein=tv:primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    ],
    [
      'in RGB',
      { tagged: { ...TAGGED, colorMatrix: 'gbr', colorPrimaries: 'bt2020' } },
      'scale=854:480:out_range=tv:out_color_matrix=bt709,format=yuv444p10le,zscale=primariesin=bt2020:transferin=bt709:matrixin=bt709:rangein=tv:primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    ],
  ] as const)('converts frames %s to BT.709', (_, changes, filters) => {
    expect(topFilters(changes)).toBe(`${START},${filters},format=yuv420p`);
  });

  test.each([
    ['pq', {}, 'color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc'],
    ['hlg', {}, 'color_primaries=bt2020:color_trc=arib-std-b67:colorspace=bt2020nc'],
    [
      'pq',
      { colorPrimaries: 'smpte432' },
      'color_primaries=smpte432:color_trc=smpte2084:colorspace=bt2020nc',
    ],
    ['pq', { colorMatrix: 'bt709' }, 'color_primaries=bt2020:color_trc=smpte2084:colorspace=bt709'],
  ] as const)('maps high dynamic range (%s, %j) to standard range', (dynamicRange, tags, input) => {
    const tagged = { colorMatrix: null, colorPrimaries: null, colorTransfer: null, ...tags };
    expect(topFilters({ dynamicRange, tagged })).toBe(
      [
        ...[START, 'scale=854:480', `setparams=${input}`, 'zscale=transfer=linear:npl=100'],
        ...['format=gbrpf32le', 'zscale=primaries=bt709', 'tonemap=tonemap=hable:desat=0'],
        ...['zscale=transfer=bt709:matrix=bt709:range=tv', 'format=yuv420p'],
      ].join(','),
    );
  });

  test('contains the first audio track; late and further audio tracks have their own graphs', () => {
    const graphs = (audio: EncodePlan['audio']) =>
      graphsOf(encodePlan({ audio })).map((graph) => graph.match(/\[(audio|surround)\d?\]/g));
    const second = audioPlan({ name: 'audio2', index: 2, channels: 1 });
    const surround = audioPlan({ name: 'surround', channels: 6 });
    expect(graphs([audioPlan(), second, surround])).toEqual([['[audio]'], ['[audio2]'], ['[surround]']]);
    expect(graphs([audioPlan({ late: true })])).toEqual([null, ['[audio]']]);
    const slow = graphsOf(encodePlan({ audio: [audioPlan()], sourceRate: 0.2 }));
    const outputs = slow.map((graph) => graph.match(/\[(360p|poster|storyboard|audio)\](?=;|$)/g));
    expect(outputs).toEqual([['[360p]'], ['[poster]', '[storyboard]'], ['[audio]']]);
    const layouts = graphsOf(encodePlan({ audio: [audioPlan(), second, surround] })).map(
      (graph) => /channel_layouts=([\w.]+)/.exec(graph)?.[1],
    );
    expect(layouts).toEqual(['stereo', 'mono', '5.1']);
  });

  test('has no chain for audio that is copied or missing', () => {
    const passed = audioPlan({ method: { copiedFrames: 94 } });
    expect(chains({ audio: [passed] }).at(-1)).toMatch(/\[storyboard\]$/);
    expect(chains({ audio: [] }).at(-1)).toMatch(/\[storyboard\]$/);
  });
});

describe('a watermark', () => {
  const watermark = {
    ...({ format: 'png', corner: 'top-left', opacity: 0.5, width: 0.25, margin: 0 } as const),
    image: { width: 400, height: 200 },
  };
  const frameRate = { numerator: 30_000, denominator: 1001 };

  test('is drawn on the top rendition after all conversions, once for all frames', () => {
    const [image, top, drawn, next] = chains({ watermark, frameRate });
    expect(image).toBe(
      '[1:0]format=rgba,colorchannelmixer=aa=0.500000,format=gbrap,premultiply=inplace=1,scale=214:106,' +
        'unpremultiply=inplace=1,scale=out_color_matrix=bt709:out_range=tv,format=yuva420p,setsar=1,' +
        'settb=1001/30000,setpts=0[watermark]',
    );
    expect(top).toMatch(/^\[0:1\]scale=.*,setparams=.*\[unmarked\]$/);
    expect(drawn).toBe(
      '[unmarked][watermark]overlay=x=0:y=0:format=yuv420,format=yuv420p,split=3[480p][to-360p][to-poster]',
    );
    expect(next).toMatch(/^\[to-360p\]zscale=/);
  });

  test('is drawn on each piece in the same way', () => {
    const piece = {
      kind: 'piece',
      firstSegment: 1,
      firstFrame: 25,
      frames: 25,
      firstIFrame: 0,
      iFrames: 0,
    } as const;
    const cut = { segmentStarts: [25], keyFrames: [25], seek: null };
    const plan = encodePlan({ watermark });
    const ofPiece = pieceGraph(plan, { ...piece, ...cut }).split(';');
    const ofWhole = graphsOf(plan)[0]?.split(';') ?? [];
    expect(ofPiece[0]).toBe(ofWhole[0]);
    expect(ofPiece[2]?.split(',split')[0]).toBe(ofWhole[2]?.split(',split')[0]);
  });
});
