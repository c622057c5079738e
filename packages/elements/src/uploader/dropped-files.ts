/** The parts of a dropped item that are used here. */
type Dropped = Pick<DataTransferItem, 'kind' | 'getAsFile'> &
  Partial<Pick<DataTransferItem, 'webkitGetAsEntry'>>;

/** What was dropped. A folder also counts as a file, which cannot be read. */
export function droppedFiles(items: Iterable<Dropped>): { file: File; isFolder: boolean }[] {
  return [...items].flatMap((item) => {
    const file = item.kind === 'file' ? item.getAsFile() : null;
    return file === null ? [] : { file, isFolder: item.webkitGetAsEntry?.()?.isDirectory === true };
  });
}
