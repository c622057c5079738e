import { findBrowser } from '@framelane/test-kit/browser';
import { requires } from '@framelane/test-kit/requires';

/** The path of Chromium; empty if it is not installed. Then the tests below are skipped, unless everything has to run. */
export const browserPath = findBrowser() ?? '';

const chromium = requires('Chromium', browserPath === '' ? 'Chromium is not installed' : null);

export const testInBrowser = chromium.test;
export const describeInBrowser = chromium.describe;
