import { z } from 'zod';

const settings = z.object({
  FRAMELANE_BASE_URL: z.url({ protocol: /^https?$/ }).regex(/\/v1\/?$/, 'must end in /v1'),
  FRAMELANE_ENGINE_URL: z.url({ protocol: /^https?$/ }),
  FRAMELANE_WORKSPACE_ID: z.string().startsWith('ws_'),
  FRAMELANE_API_KEY: z.string().startsWith('svc_'),
  FRAMELANE_OBJECTS_DIR: z.string().optional(),
  FRAMELANE_SIGN_IN_PROVIDER: z.string().optional(),
  FRAMELANE_RECOGNIZED: z
    .string()
    .transform((text) => z.array(z.string()).parse(JSON.parse(text)))
    .optional(),
});

/** The Framelane under test. URLs have no trailing slash. */
export type Target = {
  /** Ends in `/v1`. */
  baseUrl: string;
  engineUrl: string;
  workspaceId: string;
  apiKey: string;
  /** The directory of the file store; null if it is not accessible. */
  objectsDir: string | null;
  /** The name of its OpenID Connect provider, one of the test kit; null without one. */
  signInProvider: string | null;
  /** The sentences that its recogniser of speech, one of the test kit, understands; null without one. */
  recognized: readonly string[] | null;
};

/** Reads the target from `FRAMELANE_*`. Throws an error that names every variable that is missing or invalid. */
export function readTarget(env: NodeJS.ProcessEnv): Target {
  const result = settings.safeParse(env);
  if (!result.success) {
    const lines = result.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
    throw new Error(`The environment does not name the Framelane to test.\n${lines.join('\n')}`);
  }
  const values = result.data;
  return {
    baseUrl: withoutSlash(values.FRAMELANE_BASE_URL),
    engineUrl: withoutSlash(values.FRAMELANE_ENGINE_URL),
    workspaceId: values.FRAMELANE_WORKSPACE_ID,
    apiKey: values.FRAMELANE_API_KEY,
    objectsDir: values.FRAMELANE_OBJECTS_DIR || null,
    signInProvider: values.FRAMELANE_SIGN_IN_PROVIDER || null,
    recognized: values.FRAMELANE_RECOGNIZED ?? null,
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
