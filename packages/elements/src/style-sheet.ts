/** A style sheet for shadow roots. Unlike a `<style>` element, it needs no exception of a Content-Security-Policy. */
export function styleSheet(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}
