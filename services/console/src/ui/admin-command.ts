/** What starts the administration command of a single node, which the control plane writes into the page; undefined in a container. */
const ofSingleNode = document.querySelector<HTMLMetaElement>('meta[name="admin-command"]')?.content;

export const isSingleNode = ofSingleNode !== undefined;

/** Where an operator runs the administration command, at the end of a phrase. Empty for a single node. */
export const ADMIN_PLACE = isSingleNode ? '' : ' in a container of the control plane';

/** A line with the administration command of this installation. */
export function adminCommand(args: string): string {
  return `${ofSingleNode ?? 'admin'} ${args}`;
}
