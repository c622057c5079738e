import url from './sample.mp4';

/** The sample video of the installation. ADR 107 says how it was made. */
export async function sampleVideo(): Promise<File> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The sample video was not found: ${response.status}`);
  return new File([await response.blob()], 'Sample.mp4', { type: 'video/mp4' });
}
