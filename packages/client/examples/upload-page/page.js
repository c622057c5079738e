import { uploadVideo } from '@framelane/client/browser';

const input = document.querySelector('input');
const bar = document.querySelector('progress');
const button = document.querySelector('button');
const output = document.querySelector('output');

let file;
let controller;

input.addEventListener('change', () => {
  [file] = input.files;
  send();
});
button.addEventListener('click', () => (controller ? controller.abort() : send()));

/** Sends the file, or continues where it was interrupted: also after a reload, when the user selects the same file again. */
async function send() {
  controller = new AbortController();
  input.disabled = true;
  show('Pause', '');
  try {
    const { videoId } = await uploadVideo(file, requestTicket, {
      signal: controller.signal,
      onProgress({ sent, total }) {
        bar.value = sent / total;
      },
    });
    show('', `${videoId} has arrived`);
  } catch (error) {
    show('Resume', error.name === 'AbortError' ? 'Paused' : `Upload failed: ${error.code ?? error}`);
  }
  controller = undefined;
  input.disabled = false;
}

/** Your server gets the ticket, because API keys do not belong in web pages. The file goes directly to the engine. */
async function requestTicket() {
  const body = JSON.stringify({ filename: file.name, size: file.size });
  const response = await fetch('/tickets', { method: 'POST', body });
  const ticket = await response.json();
  if (!response.ok) throw ticket;
  return ticket;
}

function show(action, text) {
  button.hidden = action === '';
  button.textContent = action;
  output.textContent = text;
}
