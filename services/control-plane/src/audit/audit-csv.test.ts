import { expect, test } from '@jest/globals';
import { CSV_HEADER, csvCell, csvLineOf } from './audit-csv.ts';

test.each([
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['＝1', `"'＝1"`],
])('%j is a text in a spreadsheet', (value, cell) => expect(csvCell(value)).toBe(cell));

test.each([
  ['a,b', '"a,b"'],
  ['a;=1', '"a;=1"'],
  ['say "a"', '"say ""a"""'],
  ['two\nlines', '"two\nlines"'],
  ['key_01=', 'key_01='],
  ['', ''],
])('%j is the cell %j', (value, cell) => expect(csvCell(value)).toBe(cell));

test('an event is a line with as many cells as the header', () => {
  const line = csvLineOf({
    id: 'aud_1',
    createdAt: '2026-11-21T09:00:00.000Z',
    actor: { type: 'command_line', id: null, name: 'Command line' },
    operation: 'key revoke',
    requestId: null,
    action: 'deleted',
    resource: { type: 'captions', id: 'vid_1', part: 'en' },
    fields: ['label'],
    changes: [],
  });
  expect(line).toBe(
    'aud_1,2026-11-21T09:00:00.000Z,command_line,,Command line,key revoke,,deleted,captions,vid_1,en,label,\r\n',
  );
  expect(line.split(',')).toHaveLength(CSV_HEADER.split(',').length);
});

test('old and new values are JSON in one cell', () => {
  const line = csvLineOf({
    id: 'aud_1',
    createdAt: '2026-11-21T09:00:00.000Z',
    actor: { type: 'command_line', id: null, name: 'Command line' },
    operation: 'limits set',
    requestId: null,
    action: 'updated',
    resource: { type: 'limits', id: 'ws_1', part: null },
    fields: ['videos'],
    changes: [{ field: 'videos', from: null, to: 10 }],
  });
  expect(line.endsWith(',videos,"[{""field"":""videos"",""from"":null,""to"":10}]"\r\n')).toBe(true);
});
