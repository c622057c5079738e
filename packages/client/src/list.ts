import type { Client, MaybeOptionalInit } from 'openapi-fetch';
import type { Paths } from './contract.ts';
import { type Outcome, unwrap } from './framelane-error.ts';

type Page<Item> = { data: Item[]; nextCursor: string | null };

type PageAt<Path extends keyof Paths> = Paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body extends Page<unknown> } } } };
}
  ? Body
  : never;

/** The paths that return a page. */
export type ListPath = {
  [Path in keyof Paths]: [PageAt<Path>] extends [never] ? never : Path;
}[keyof Paths];

export type ListItem<Path extends ListPath> = PageAt<Path>['data'][number];

type Init<Path extends ListPath> = MaybeOptionalInit<Paths[Path], 'get'>;

/** The options of `GET`; optional where `GET`'s are. */
export type ListInit<Path extends ListPath> =
  undefined extends Init<Path> ? [init?: Init<Path>] : [init: Init<Path>];

/** Yields every entry of a list. Fetches the next page after the last entry of the previous one. */
export async function* listAll<Path extends ListPath>(
  api: Client<Paths>,
  path: Path,
  ...[init]: ListInit<Path>
): AsyncGenerator<ListItem<Path>, void> {
  // The types of the parameters ensure that the path returns pages.
  const get = api.GET as (path: ListPath, init: object) => Promise<Outcome<Page<ListItem<Path>>>>;
  let cursor: string | null | undefined;
  do {
    const query = { ...init?.params?.query, ...(cursor && { cursor }) };
    const page = await unwrap(get(path, { ...init, params: { ...init?.params, query } }));
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
