import type { Client, MaybeOptionalInit } from 'openapi-fetch';
import type { Paths } from './contract.ts';
import { type Answer, unwrap } from './unwrap.ts';

type Page<Item> = { data: Item[]; nextCursor: string | null };

type PageAt<Path extends keyof Paths> = Paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body extends Page<unknown> } } } };
}
  ? Body
  : never;

/** The paths that answer with a page. */
export type ListPath = {
  [Path in keyof Paths]: [PageAt<Path>] extends [never] ? never : Path;
}[keyof Paths];

export type ListItem<Path extends ListPath> = PageAt<Path>['data'][number];

type Init<Path extends ListPath> = MaybeOptionalInit<Paths[Path], 'get'>;

/** What `GET` takes, and like there to be left out where nothing in it is needed. */
export type ListInit<Path extends ListPath> =
  undefined extends Init<Path> ? [init?: Init<Path>] : [init: Init<Path>];

/** Every entry of a list. The next page is fetched when the one before has been used up. */
export async function* listAll<Path extends ListPath>(
  api: Client<Paths>,
  path: Path,
  ...[init]: ListInit<Path>
): AsyncGenerator<ListItem<Path>, void> {
  // Which path it is, is not known here; that all of these answer with pages, the types of the parameters have seen to.
  const get = api.GET as (path: ListPath, init: object) => Promise<Answer<Page<ListItem<Path>>>>;
  let cursor: string | null | undefined;
  do {
    const query = { ...init?.params?.query, ...(cursor && { cursor }) };
    const page = await unwrap(get(path, { ...init, params: { ...init?.params, query } }));
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
