import { expect, test } from '@jest/globals';
import { ffmetadata } from './ffmetadata.ts';

test('the characters with a meaning are escaped', () => {
  expect(ffmetadata({ title: 'a=b;c#d\\e\nf "g"' })).toBe(
    ';FFMETADATA1\ntitle=a\\=b\\;c\\#d\\\\e\\\nf "g"\n',
  );
});
