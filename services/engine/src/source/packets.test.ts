import { describe, expect, test } from '@jest/globals';
import { readLine, readPacketList } from './packets.ts';

const json = (packet: object) => ({ packets: [packet], format: { nb_streams: 2 } });

describe('a packet is the same in CSV and JSON', () => {
  test.each([
    {
      what: 'with side data',
      line: '1,0.080000,0.040000,0.040000,1200,48,K__,Encryption info,New Extradata',
      described: {
        stream_index: 1,
        pts_time: '0.080000',
        dts_time: '0.040000',
        duration_time: '0.040000',
        size: '1200',
        pos: '48',
        flags: 'K__',
        side_data_list: [{ side_data_type: 'Encryption info' }, { side_data_type: 'New Extradata' }],
      },
      read: {
        ...{ index: 1, pts: 0.08, dts: 0.04, duration: 0.04, bytes: 1200, at: 48, flags: 'K__' },
        sideData: ['Encryption info', 'New Extradata'],
      },
    },
    {
      what: 'of which little is known',
      line: '0,N/A,N/A,N/A,7,N/A,__',
      described: { stream_index: 0, size: '7', flags: '__' },
      read: {
        ...{ index: 0, pts: Number.NaN, dts: Number.NaN, duration: Number.NaN, bytes: 7, at: Number.NaN },
        ...{ flags: '__', sideData: [] },
      },
    },
  ])('$what', ({ line, described, read }) => {
    expect(readLine(line)).toEqual(read);
    expect(readPacketList(json(described))).toEqual({ packets: [read], trackCount: 2 });
  });
});

test('the last line is the number of tracks', () => {
  expect(readLine('2')).toEqual({ trackCount: 2 });
});

test('the empty lines of side data are no packets', () => {
  expect(readLine('')).toBeNull();
});
