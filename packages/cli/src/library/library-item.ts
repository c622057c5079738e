import type { ImportRequest, Schemas } from '@framelane/client';

/** Where the file of a video is. */
export type Media =
  | { path: string }
  /** `headers` are sent to the origin of `url` only. */
  | { url: string; headers?: Readonly<Record<string, string>> };

export type CaptionsFile = {
  /** A BCP 47 tag. */
  language: string;
  label?: string | undefined;
  default?: boolean | undefined;
  /** WebVTT or SubRip. */
  text: string;
};

/** Chapters as JSON or as a WebVTT file. */
export type Chapters = readonly Schemas['Chapter'][] | string;

/** What a video of a library has besides its file. A part that could not be read is a warning. */
export type Details = {
  captions: readonly CaptionsFile[];
  chapters?: Chapters | undefined;
  /** A JPEG image. */
  poster?: Uint8Array | undefined;
  warnings: readonly string[];
};

/** Fields of the new video that only a library of Framelane has. */
export type FramelaneFields = Pick<
  ImportRequest,
  'playbackPolicy' | 'allowedOrigins' | 'keepSource' | 'audioOnly' | 'trim'
>;

/** A video of another library. */
export type LibraryItem = {
  /** Identifies the video among all libraries, such as `mux:<asset>`. It is stored with the new video, so later runs find it. */
  id: string;
  /** The video in reports and for filters: a path or a title. */
  name: string;
  title?: string | undefined;
  /** The name of the file, with an extension. */
  filename: string;
  tags?: readonly string[] | undefined;
  metadata?: Readonly<Record<string, string | undefined>>;
  passthrough?: string | undefined;
  /** When it was created, RFC 3339. */
  createdAt?: string | undefined;
  /** Bytes of the file; undefined if the service does not say. */
  size?: number | undefined;
  fields?: FramelaneFields;
  /** Why it cannot be imported, and what to do. */
  unsupported?: string | undefined;
  /** What is known to be lost. */
  warnings?: readonly string[];
  /** Prepares the file, such as a download that the service makes on request, and says where it is. */
  media(): Promise<Media>;
  details(): Promise<Details>;
};

/** A video that the library lists, but whose entry cannot be read. */
export type BrokenItem = { id: string; name: string; error: Error };

/** Lists the videos of a library. */
export type LibrarySource = {
  /** The service, for messages. */
  name: string;
  /** How files get into Framelane unless the user says otherwise. */
  transfer: Transfer;
  /** Hosts that the user has named: files may be there although they are in a private network. */
  trustedHosts: ReadonlySet<string>;
  items(): AsyncIterable<LibraryItem | BrokenItem>;
};

/** `url`: an engine fetches the file. `upload`: this program sends it, and fetches it before if it is elsewhere. */
export type Transfer = 'url' | 'upload';

/** What every source gets. */
export type SourceContext = {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
};
