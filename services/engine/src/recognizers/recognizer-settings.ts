/** A server with the transcription operation of OpenAI's API. */
export type HttpRecognizerSettings = {
  kind: 'http';
  /** Its base URL, such as `http://localhost:8000/v1`. */
  url: string;
  model: string | undefined;
};

/** The program of whisper.cpp, or one with the same arguments and output. */
export type ProgramRecognizerSettings = {
  kind: 'program';
  /** Paths. */
  program: string;
  model: string;
};

export type RecognizerSettings = (HttpRecognizerSettings | ProgramRecognizerSettings) & {
  /** Time limit for each part of the sound. */
  timeoutSeconds: number;
  /** Videos at a time. */
  slots: number;
};
