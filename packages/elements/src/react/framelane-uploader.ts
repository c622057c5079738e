import { createElement, forwardRef, type HTMLAttributes, useImperativeHandle, useRef, useState } from 'react';
import { define } from '../element-base.ts';
import { FramelaneUploaderElement, type UploaderEventMap } from '../uploader/uploader-element.ts';
import type { Words } from '../uploader/words.ts';
import { flag } from './flag.ts';
import { useEffectBeforePaint, useListeners } from './use-listeners.ts';

/** The attributes of `<framelane-uploader>`, its properties and events, and the attributes of every HTML element. */
export type FramelaneUploaderProps = Omit<HTMLAttributes<FramelaneUploaderElement>, 'children'> & {
  endpoint?: string | undefined;
  /** Requests a ticket in place of `endpoint`. */
  requestTicket?: ((file: File) => Promise<unknown>) | undefined;
  multiple?: boolean | undefined;
  accept?: string | undefined;
  name?: string | undefined;
  required?: boolean | undefined;
  disabled?: boolean | undefined;
  words?: Partial<Words> | undefined;
  onUploadProgress?: (event: UploaderEventMap['upload-progress']) => void;
  onUploadComplete?: (event: UploaderEventMap['upload-complete']) => void;
  onUploadError?: (event: UploaderEventMap['upload-error']) => void;
  onUploadCancel?: (event: UploaderEventMap['upload-cancel']) => void;
};

const NO_WORDS = {};

/** `<framelane-uploader>` as a component. The ref is the element with its methods. */
export const FramelaneUploader = forwardRef<FramelaneUploaderElement, FramelaneUploaderProps>(
  function FramelaneUploader(props, outer) {
    const {
      onUploadProgress,
      onUploadComplete,
      onUploadError,
      onUploadCancel,
      requestTicket,
      words = NO_WORDS,
      multiple,
      required,
      disabled,
      className,
      ...others
    } = props;
    const element = useRef<FramelaneUploaderElement>(null);
    // Not before: an uploader from a server would show the English words, and could not get a ticket for a file without requestTicket. The first
    // uploader of a page defines the element for all, so each takes no files before its own effects.
    const [takesFiles, setTakesFiles] = useState(false);
    useEffectBeforePaint(() => {
      define('framelane-uploader', FramelaneUploaderElement);
      setTakesFiles(true);
    }, []);
    useImperativeHandle<FramelaneUploaderElement | null, FramelaneUploaderElement | null>(
      outer,
      () => element.current,
      [],
    );
    useListeners(element, {
      'upload-progress': onUploadProgress,
      'upload-complete': onUploadComplete,
      'upload-error': onUploadError,
      'upload-cancel': onUploadCancel,
    });
    useEffectBeforePaint(() => {
      if (element.current !== null) element.current.requestTicket = requestTicket;
    }, [requestTicket]);
    useEffectBeforePaint(() => {
      if (element.current !== null) element.current.words = words;
    }, [words]);
    return createElement('framelane-uploader', {
      ...others,
      ref: element,
      // React before 19 takes only `class` for custom elements.
      class: className,
      multiple: flag(multiple),
      required: flag(required),
      disabled: flag(disabled || !takesFiles),
    });
  },
);
