import { unwrap } from '@framelane/client';
import { api } from '../api/api.ts';
import { isSessionError } from '../api/problem.ts';
import { forgetScope } from '../api/scope.ts';
import { forgetUploads } from '../uploads/stored-uploads.ts';

/** Ends the session, forgets unfinished uploads and the choice of the workspace, and loads the page again, so that nothing of it stays. */
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
