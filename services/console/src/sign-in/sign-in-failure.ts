type Address = Pick<Location, 'hash' | 'pathname' | 'search'>;

/** Why a sign-in at the provider failed. */
export type SignInFailure = { reason: string; requestId: string };

/** The failure of a sign-in, after `#failure=`. Removes it from the address, so that a reload does not show it again. */
export function takeFailure(
  address: Address,
  history: Pick<History, 'replaceState' | 'state'>,
): SignInFailure | undefined {
  const values = new URLSearchParams(address.hash.slice(1));
  const reason = values.get('failure');
  if (reason === null) return undefined;
  history.replaceState(history.state, '', `${address.pathname}${address.search}`);
  return { reason, requestId: values.get('request') ?? '' };
}

/** A failure in words for people: what happened, and what to do. */
export function failureWords(reason: string, provider: string): { title: string; detail: string } {
  switch (reason) {
    case 'unavailable':
      return {
        title: `${provider} does not respond`,
        detail: 'Try again in a minute. The log of Framelane has the cause.',
      };
    case 'misconfigured':
      return {
        title: `${provider} does not accept Framelane`,
        detail:
          'Ask an administrator to check the settings of OpenID Connect. The log of Framelane has the cause.',
      };
    case 'denied':
      return {
        title: `${provider} refused the sign-in`,
        detail: `The sign-in was cancelled, or ${provider} does not let you use Framelane. Sign in again, or ask an administrator.`,
      };
    case 'unverified':
      return {
        title: 'Your email address is not verified',
        detail: `Verify it at ${provider}, then sign in again. If you cannot, ask an administrator.`,
      };
    case 'not_added':
      return {
        title: 'You have no access yet',
        detail: `${provider} knows you, but nobody has added you to Framelane. Ask an administrator to add your email address with “admin console-person add”.`,
      };
    case 'expired':
      return {
        title: 'The sign-in has expired',
        detail: 'It took longer than 10 minutes, or it began in another tab or browser. Sign in again.',
      };
    case 'rejected':
      return {
        title: `The response of ${provider} is not valid`,
        detail:
          'Nobody was signed in. Sign in again. If it fails again, ask an administrator: the log of Framelane has the cause.',
      };
    case 'too_many':
      return {
        title: 'Too many failed sign-ins from your network',
        detail: 'Wait a minute, then sign in again.',
      };
    default:
      return {
        title: 'The sign-in failed',
        detail: 'Try again in a minute. The log of Framelane has the cause.',
      };
  }
}
