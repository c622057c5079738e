import Bowser from 'bowser';

/** The browser and system of a session, such as "Firefox on Windows". A User-Agent that names none is shown as it is. */
export function browserWords(userAgent: string | null): string {
  if (!userAgent) return 'Unknown browser';
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name) return userAgent;
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
