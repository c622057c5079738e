import type { SealingKeys } from '@framelane/contracts/sealing';
import type { ConsolePeopleService } from '../console-people/console-people.service.ts';
import { normaliseEmail } from '../console-people/email.ts';
import type { ConsoleSessionsService, SignInRequest } from '../console-sessions/console-sessions.service.ts';
import type { Clock } from '../db/database-clock.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import { openPendingSignIn, sealPendingSignIn } from './pending-sign-in.ts';
import { signInFailure } from './sign-in-failure.ts';

type Deps = {
  clock: Clock;
  provider: OpenIdProvider;
  sealingKeys: SealingKeys;
  people: ConsolePeopleService;
  sessions: ConsoleSessionsService;
};

/** Signs people in by OpenID Connect (ADR 47). */
export class OpenIdSignInService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Begins a sign-in. Resolves with the URL to open, and the sealed state of the sign-in, which the browser stores until it returns. */
  async begin(): Promise<{ url: string; pending: string }> {
    const { pending, url } = await this.#deps.provider.begin();
    return {
      url: url.href,
      pending: await sealPendingSignIn(this.#deps.sealingKeys, pending, this.#deps.clock.now()),
    };
  }

  /**
   * Completes a sign-in with the query of the provider's redirect and the sealed state from the browser. Resolves with the token of the new
   * session. Throws a sign-in failure with the reason.
   */
  async complete(query: string, sealed: string, request: SignInRequest): Promise<string> {
    const pending = await openPendingSignIn(this.#deps.sealingKeys, sealed, this.#deps.clock.now());
    if (pending === undefined) throw signInFailure('expired', 'The sign-in has expired.');
    const identity = await this.#deps.provider.complete(query, pending);
    const email = normaliseEmail(identity.email);
    if (email === undefined) throw signInFailure('unverified', 'The provider sent no email address.');
    if (!identity.isEmailVerified) {
      throw signInFailure('unverified', `The provider has not verified the email address ${email}.`);
    }
    const person = { email, name: displayName(identity.name) ?? email };
    const token = await this.#deps.sessions.signInPerson(
      person,
      (trx) => this.#deps.people.grantsIn(trx, email),
      request,
    );
    if (token === undefined) {
      throw signInFailure(
        'not_added',
        `Nobody has added ${email}: admin console-person add --email ${email}`,
      );
    }
    return token;
  }
}

/** Characters that make a text look like another one, and those that cannot be shown. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** The longest name that is stored. */
const NAME_LENGTH = 100;

/** The name from the provider as the list of sessions shows it; undefined without one. */
function displayName(name: string | undefined): string | undefined {
  const printable = [...(name ?? '').replace(UNPRINTABLE, '').trim()].slice(0, NAME_LENGTH).join('');
  return printable === '' ? undefined : printable;
}
