// Runs before the page is shown.
(() => {
  let theme;
  try {
    theme = localStorage.getItem('framelane-docs-theme');
  } catch {
    // Storage is blocked: the theme of the system.
  }
  const isDark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
