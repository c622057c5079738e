import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { EngineContact } from './engine-contact.ts';

const LEASE = 8;

let check: () => Promise<void>;
let contact: EngineContact;
beforeEach(() => {
  jest.useFakeTimers();
  check = async () => {};
  contact = new EngineContact({ check: () => check(), shortestLeaseSeconds: LEASE });
});
afterEach(() => {
  contact.stop();
  jest.useRealTimers();
});

const after = (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000);

test('lasts from the start on', async () => {
  expect(contact.hasLasted(0)).toBe(false);
  contact.start();
  await after(LEASE - 0.1);
  expect(contact.hasLasted(LEASE)).toBe(false);
  await after(0.2);
  expect(contact.hasLasted(LEASE)).toBe(true);
  expect(contact.hasLasted(2 * LEASE)).toBe(false);
});

test('begins anew after a break', async () => {
  contact.start();
  await after(2 * LEASE);
  check = () => Promise.reject(new Error('away'));
  await after(LEASE * 0.75);
  expect(contact.hasLasted(0)).toBe(false);
  check = async () => {};
  await after(LEASE / 4);
  expect(contact.hasLasted(0)).toBe(true);
  expect(contact.hasLasted(LEASE)).toBe(false);
  await after(LEASE);
  expect(contact.hasLasted(LEASE)).toBe(true);
});

test('outlasts a single look that failed', async () => {
  contact.start();
  await after(2 * LEASE);
  check = () => Promise.reject(new Error('too slow'));
  await after(LEASE / 4);
  check = async () => {};
  await after(LEASE / 4);
  expect(contact.hasLasted(LEASE)).toBe(true);
});

test('begins anew after the machine was suspended', async () => {
  contact.start();
  await after(2 * LEASE);
  jest.setSystemTime(Date.now() + 10 * LEASE * 1000);
  expect(contact.hasLasted(0)).toBe(false);
  await after(LEASE / 4);
  expect(contact.hasLasted(0)).toBe(true);
  expect(contact.hasLasted(LEASE)).toBe(false);
});

test('begins anew after a silence, also when the answer comes in the end', async () => {
  contact.start();
  await after(2 * LEASE);
  const { promise, resolve } = Promise.withResolvers<void>();
  check = () => promise;
  await after(LEASE);
  expect(contact.hasLasted(0)).toBe(false);
  resolve();
  await after(0);
  expect(contact.hasLasted(0)).toBe(true);
  expect(contact.hasLasted(LEASE)).toBe(false);
});
