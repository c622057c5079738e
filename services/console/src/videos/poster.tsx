import type { Video } from '@framelane/client';
import { useState } from 'react';

/** The poster of a video, or a grey area. The cookie of the session gives access to the poster of a signed video without a token. */
export function Poster({ video: { thumbnail, updatedAt } }: { video: Video }) {
  // A poster keeps its URL, and browsers keep the earlier one for a minute.
  const url = thumbnail && `${thumbnail}?at=${Date.parse(updatedAt)}`;
  const [failed, setFailed] = useState<string>();
  if (url === null || url === failed) return <div className="poster" />;
  return (
    <img
      className="poster"
      src={url}
      alt=""
      width={112}
      height={63}
      loading="lazy"
      decoding="async"
      onError={() => setFailed(url)}
    />
  );
}
