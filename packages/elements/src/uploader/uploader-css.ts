/** The look of an uploader. Pages change it with the custom properties and with `::part()`. */
export const UPLOADER_CSS = `
:host {
  --accent: var(--framelane-accent-color, #2f6fed);
  --on-accent: var(--framelane-on-accent-color, #fff);
  --line: var(--framelane-border-color, color-mix(in srgb, currentColor 30%, transparent));
  --muted: var(--framelane-muted-color, color-mix(in srgb, currentColor 75%, transparent));
  --error: var(--framelane-error-color, light-dark(#b42318, #ff8a80));
  --radius: var(--framelane-border-radius, 8px);
  display: block;
  font: inherit;
}
:host([hidden]), [hidden] { display: none !important; }
[part="zone"] {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: center;
  gap: 0.5em 0.75em;
  padding: 1.5em;
  border: 2px dashed var(--line);
  border-radius: var(--radius);
  text-align: center;
}
[part="zone"].over { border-color: var(--accent); background: color-mix(in srgb, var(--accent) 10%, transparent); }
[part="hint"], [part="status"] { color: var(--muted); }
button {
  font: inherit;
  color: inherit;
  padding: 0.3em 0.8em;
  border: 1px solid var(--line);
  border-radius: var(--radius);
  background: transparent;
  cursor: pointer;
}
button:disabled { cursor: not-allowed; opacity: 0.6; }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[part~="choose"] { padding: 0.5em 1.2em; border-color: transparent; background: var(--accent); color: var(--on-accent); }
ul { list-style: none; margin: 0; padding: 0; }
li {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  gap: 0.25em 0.75em;
  padding-block: 0.75em;
  border-block-end: 1px solid var(--line);
}
[part="name"] { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
[part="actions"] { display: flex; gap: 0.5em; grid-column: 2; grid-row: 1 / span 2; align-self: center; }
progress { grid-column: 1 / -1; inline-size: 100%; block-size: 0.5em; accent-color: var(--accent); }
[part="error"] { grid-column: 1 / -1; color: var(--error); margin: 0; }
[role="status"] { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;
