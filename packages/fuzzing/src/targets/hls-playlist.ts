import { readAttributeList } from '../../../hls-conformance/src/playlists/attribute-list.ts';
import {
  audioOf,
  readMasterPlaylist,
  videoCodecOf,
} from '../../../hls-conformance/src/playlists/master-playlist.ts';
import { readMediaPlaylist } from '../../../hls-conformance/src/playlists/media-playlist.ts';
import { decodePlaylist, readLines } from '../../../hls-conformance/src/playlists/playlist-text.ts';
import { expectThat } from '../promises.ts';
import type { Target } from '../target.ts';

const URL_OF_PLAYLIST = 'https://example.com/a/master.m3u8';

/** A playlist of any server. The checker reports what is wrong, and never refuses one. */
export const target: Target = {
  maxBytes: 1500,
  steps: { fixed: 1_000, perByte: 100 },
  dictionary: [
    '#EXTM3U',
    '#EXT-X-VERSION:',
    '#EXT-X-STREAM-INF:',
    '#EXT-X-MEDIA:',
    '#EXT-X-I-FRAME-STREAM-INF:',
    '#EXT-X-SESSION-DATA:',
    '#EXT-X-TARGETDURATION:',
    '#EXT-X-MEDIA-SEQUENCE:',
    '#EXTINF:',
    '#EXT-X-KEY:',
    '#EXT-X-MAP:',
    '#EXT-X-BYTERANGE:',
    '#EXT-X-DISCONTINUITY',
    '#EXT-X-ENDLIST',
    '#EXT-X-I-FRAMES-ONLY',
    'BANDWIDTH=',
    'CODECS="avc1.64001f,mp4a.40.2"',
    'AUDIO="a"',
    'GROUP-ID="a"',
    'TYPE=AUDIO',
    'URI="',
    'METHOD=AES-128',
    'IV=0x',
    'KEYFORMAT="identity"',
    'CLOSED-CAPTIONS=NONE',
    '"',
    ',',
    '=',
    '\n',
    '\r\n',
    '\ufeff',
    '//',
    'https://',
    '[',
    ' ',
    '\t',
  ],
  seeds: [
    '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",URI="audio.m3u8"\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.64001f",AUDIO="a"\nvideo.m3u8\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"\n',
    '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01\n#EXT-X-MAP:URI="init.mp4"\n#EXTINF:4.0,\n0.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n',
  ],
  run: (input) => {
    const { text } = decodePlaylist(input);
    const lines = readLines(text);
    const master = readMasterPlaylist(lines, URL_OF_PLAYLIST);
    const media = readMediaPlaylist(lines, URL_OF_PLAYLIST);
    expectThat(
      master.variants.length + media.segments.length <= 2 * lines.length,
      'a line lists one segment or variant',
    );
    for (const variant of master.variants) {
      audioOf(variant, master);
      videoCodecOf(variant);
    }
    for (const { url, key } of media.segments) {
      expectThat(URL.canParse(url), 'the URL of a segment is absolute');
      expectThat((key?.vector?.length ?? 16) === 16, 'a vector has 16 bytes');
    }
    const { attributes } = readAttributeList(text);
    for (const { text: value } of attributes.values())
      expectThat(text.includes(value), 'the value of an attribute is in the list');
  },
};
