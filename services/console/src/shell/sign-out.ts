import { unwrap } from '@framelane/client';
import { api } from '../api/api.ts';
import { isSessionError } from '../api/problem.ts';
import { forgetScope } from '../api/scope.ts';
import { forgetUploads } from '../uploads/stored-uploads.ts';

/** Ends the session. Forgets unfinished uploads and the choice of the workspace. Then loads the page again, so that nothing stays. */
export async function signOut(): Promise<void> {
  try {
    await unwrap(api.DELETE('/console/session'));
  } catch (error) {
    // The session has ended already.
    if (!isSessionError(error)) throw error;
  }
  forgetUploads(localStorage);
  forgetScope();
  location.reload();
}
