import { expect, test } from '@jest/globals';
import { containerTraits, SOUND_DEMUXERS, VIDEO_DEMUXERS } from './containers.ts';

const ACCEPTED = ['mp4', 'mov', 'matroska', 'mpegts', 'mpeg', 'avi', 'flv', 'ogg', 'asf', 'mxf'];
const having = (trait: 'clockMayRestart' | 'scanTypeMayChange' | 'allowsCopy' | 'allowsParts') =>
  ACCEPTED.filter((container) => containerTraits(container)[trait]);

test('ffmpeg may use the demuxers of the accepted containers only', () => {
  expect(VIDEO_DEMUXERS.toSorted()).toEqual([
    'asf',
    'avi',
    'flv',
    'matroska',
    'mov',
    'mpeg',
    'mpegts',
    'mxf',
    'ogg',
    'webm',
  ]);
  expect(SOUND_DEMUXERS.toSorted()).toEqual(['aac', 'aiff', 'amr', 'flac', 'mp3', 'wav']);
  expect(() => containerTraits('hls')).toThrow('Unknown container hls');
});

test('MPEG streams may restart their clock; they and Matroska may change to interlaced', () => {
  expect(having('clockMayRestart')).toEqual(['mpegts', 'mpeg', 'ogg']);
  expect(having('scanTypeMayChange')).toEqual(['matroska', 'mpegts', 'mpeg']);
});

test('engines fetch parts of MP4 and QuickTime files only', () => {
  expect(having('allowsParts')).toEqual(['mp4', 'mov']);
});

test('a stream copy needs a container that describes a track once', () => {
  expect(having('allowsCopy')).toEqual(['mp4', 'mov', 'matroska']);
});

test('ffmpeg seeks to an indexed key frame, or searches in a transport stream; others are read from their beginning', () => {
  const seeks = ACCEPTED.map((container) => [container, containerTraits(container).seek]);
  expect(Object.fromEntries(seeks)).toEqual({
    mp4: 'index',
    mov: 'index',
    matroska: 'index',
    mpegts: 'search',
    mpeg: null,
    avi: null,
    flv: null,
    ogg: null,
    asf: null,
    mxf: null,
  });
});

test('the declared duration of a track comes from where the container has it', () => {
  const sources = ACCEPTED.map((container) => [container, containerTraits(container).duration]);
  expect(Object.fromEntries(sources)).toEqual({
    mp4: 'index',
    mov: 'index',
    matroska: 'file',
    flv: 'file',
    avi: 'frame_count',
    mpegts: 'track',
    mpeg: 'track',
    ogg: 'track',
    asf: 'track',
    mxf: 'track',
  });
});
