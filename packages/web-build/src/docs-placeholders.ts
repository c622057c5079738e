/** In built pages, the URL of the site. Then comes the name of a page without its extension, or of another file. */
export const SITE_URL = '/url-of-these-docs/';

/** In built pages, the URL of the API reference that an installation serves. */
export const REFERENCE_URL = '/url-of-the-api-reference';
