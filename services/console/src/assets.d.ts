/** The build adds imported style sheets to the page. */
declare module '*.css';

/** Images are built into files; the module is the URL. */
declare module '*.svg' {
  const url: string;
  // biome-ignore lint/style/noDefaultExport: the build exports the URL like this.
  export default url;
}

/** So are videos. */
declare module '*.mp4' {
  const url: string;
  // biome-ignore lint/style/noDefaultExport: the build exports the URL like this.
  export default url;
}
