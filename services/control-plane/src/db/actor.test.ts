import { setImmediate as afterOthers } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type Actor, asActor, currentActor } from './actor.ts';

const actor = (name: string): Actor => ({
  type: 'api_key',
  id: 'key_1',
  name,
  operation: 'x',
  requestId: null,
});

test('concurrent work has the actor that began it', async () => {
  const nameLater = async () => {
    await afterOthers();
    return currentActor()?.name;
  };
  const names = await Promise.all([
    asActor(actor('a'), nameLater),
    asActor(actor('b'), nameLater),
    nameLater(),
  ]);
  expect(names).toEqual(['a', 'b', undefined]);
});
