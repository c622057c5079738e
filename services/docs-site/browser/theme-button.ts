/** Shows the button that changes between light and dark, and remembers the choice. */
export function showThemeButton(button: HTMLButtonElement): void {
  const { dataset } = document.documentElement;
  const label = () => {
    const other = dataset.theme === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} theme`);
  };
  button.addEventListener('click', () => {
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    label();
    try {
      localStorage.setItem('framelane-docs-theme', dataset.theme);
    } catch {
      // Storage is blocked: the choice is for this page only.
    }
  });
  label();
  button.hidden = false;
}
