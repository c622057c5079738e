/** A response with the URL of its request and the URL of its redirect. */
export type Page = { url: string; status: number; location: string; text: string; setCookie: string[] };

/** A minimal browser for redirects between sites, with cookies for each host. */
export class Browser {
  /** By host name: a port does not matter for cookies. */
  readonly cookies = new Map<string, Map<string, string>>();
  readonly #origins: Readonly<Record<string, string>>;

  /** `origins` maps origins to the origins that actually serve them. */
  constructor(origins: Readonly<Record<string, string>> = {}) {
    this.#origins = origins;
  }

  get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#send(url, { headers });
  }

  post(url: string, form: Readonly<Record<string, string>>): Promise<Page> {
    return this.#send(url, { method: 'POST', body: new URLSearchParams(form) });
  }

  /** Follows redirects until a URL matches. Does not request that URL, but returns it as the `url` of the redirecting page. */
  async follow(page: Page, isLast: (url: string) => boolean): Promise<Page> {
    if (page.location === '') return page;
    if (isLast(page.location)) return { ...page, url: page.location };
    return this.follow(await this.get(page.location), isLast);
  }

  async #send(
    url: string,
    options: Omit<RequestInit, 'headers'> & { headers?: Readonly<Record<string, string>> },
  ): Promise<Page> {
    const { origin, hostname } = new URL(url);
    const jar = this.cookies.get(hostname) ?? new Map<string, string>();
    this.cookies.set(hostname, jar);
    const response = await fetch(url.replace(origin, this.#origins[origin] ?? origin), {
      ...options,
      redirect: 'manual',
      headers: { ...options.headers, cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    const setCookie = response.headers.getSetCookie();
    for (const cookie of setCookie) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0\b/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('location');
    return {
      url,
      status: response.status,
      location: location === null ? '' : new URL(location, url).href,
      text: await response.text(),
      setCookie,
    };
  }
}
