/** Marks the part of the page that is in view in the list "On this page". */
export function followOutline(links: readonly HTMLAnchorElement[]): void {
  const byAnchor = new Map(links.map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = [...byAnchor.keys()].flatMap((anchor) => document.getElementById(anchor) ?? []);
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
    const current = passed.at(-1)?.id;
    for (const [anchor, link] of byAnchor) {
      if (anchor === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  let isDue = false;
  addEventListener(
    'scroll',
    () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
