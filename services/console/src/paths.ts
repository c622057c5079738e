const file = import.meta.url;

/** The path of the console, e.g. `/console`. The files of the page are in a folder below it. */
export const BASE = new URL('..', file).pathname.replace(/\/$/, '');

/** The URL of the API, which is beside the console. */
export const API_URL = new URL(`${BASE.slice(0, BASE.lastIndexOf('/') + 1)}v1`, file).href;

/** The URL of the documentation, which is beside the console as well. */
export const DOCS_URL = new URL(`${BASE.slice(0, BASE.lastIndexOf('/') + 1)}docs/`, file).href;

/** Addresses of the pages, relative to `BASE`. */
export const paths = {
  home: '/',
  videos: '/videos',
  video: (id: string) => `/videos/${id}`,
  analytics: '/analytics',
  videoAnalytics: (id: string) => `/videos/${id}?tab=analytics`,
  webhooks: '/webhooks',
  webhook: (id: string) => `/webhooks/${id}`,
  keys: '/keys',
  usage: '/usage',
  sessions: '/sessions',
  requests: '/requests',
  request: (id: string) => `/requests/${id}`,
  audit: '/audit',
  system: '/system',
};
