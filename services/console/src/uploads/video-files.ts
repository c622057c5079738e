/** The files that a file chooser offers. Other files can be dropped. */
export const VIDEO_FILES = 'video/*,audio/*,.mkv,.mxf,.ts,.mts,.m2ts';
