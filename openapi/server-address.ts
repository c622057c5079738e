/** A server as OpenAPI describes it. */
export type Server = {
  url: string;
  description?: string;
  variables?: Record<string, { default: string }>;
};

/** The address of the first server, with the defaults in place of its variables. */
export function addressOf([server]: readonly Server[]): string {
  const { url = '', variables = {} } = server ?? {};
  return url.replace(/\{(\w+)\}/g, (_, name) => variables[name]?.default ?? '');
}
