/** The build adds imported style sheets to the page. */
declare module '*.css';
