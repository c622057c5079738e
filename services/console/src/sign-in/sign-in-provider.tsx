import { Button } from '@mantine/core';
import { BASE } from '../paths.ts';

/** The name of the OpenID Connect provider, which the control plane writes into the page; undefined without one. */
export const providerName = document.querySelector<HTMLMetaElement>('meta[name="sign-in-provider"]')?.content;

/** The link to the sign-in at the provider, if there is one. `target` is that of the link. */
export function SignInAtProvider({ target }: { target?: '_blank' }) {
  if (providerName === undefined) return null;
  return (
    <Button component="a" className="wrapping-button" href={`${BASE}/sign-in/start`} target={target}>
      Sign in with {providerName}
    </Button>
  );
}
