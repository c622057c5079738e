import { expect, test } from '@jest/globals';
import { sealText, UnsealError, unsealText } from './sealed-text.ts';

test('a text is opened with its passphrase, also in another Unicode form', async () => {
  const sealed = await sealText('the secret ✓', 'pa\u00dfphrase \u00e9');
  expect(sealed).not.toContain('secret');
  expect(await unsealText(sealed, 'pa\u00dfphrase e\u0301')).toBe('the secret ✓');
  expect(await sealText('the secret ✓', 'pa\u00dfphrase \u00e9')).not.toBe(sealed);
});

test('no other passphrase opens it, and no altered text is opened', async () => {
  const sealed = await sealText('secret', 'passphrase');
  await expect(unsealText(sealed, 'Passphrase')).rejects.toThrow(UnsealError);
  const parts = JSON.parse(sealed);
  for (const altered of [
    '{}',
    'no JSON',
    JSON.stringify({ ...parts, tag: parts.tag.slice(0, 8) }),
    JSON.stringify({ ...parts, text: Buffer.from('Secret').toString('base64') }),
  ]) {
    await expect(unsealText(altered, 'passphrase')).rejects.toThrow(UnsealError);
  }
});
