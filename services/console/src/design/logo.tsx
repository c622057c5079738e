import url from './logo.svg';

/** The mark of Framelane. The name stands beside it. */
export function Logo() {
  return <img src={url} alt="" width={20} height={20} />;
}
