import { upload } from '@framelane/client/browser';

const input = document.querySelector('input');
const bar = document.querySelector('progress');
const cancel = document.querySelector('button');
const output = document.querySelector('output');

input.addEventListener('change', async () => {
  const [file] = input.files;
  const controller = new AbortController();
  cancel.onclick = () => controller.abort();
  try {
    // Your server gets the ticket, because API keys do not belong in web pages. The file goes directly to the engine.
    const body = JSON.stringify({ filename: file.name, size: file.size });
    const response = await fetch('/tickets', { method: 'POST', body });
    const ticket = await response.json();
    if (!response.ok) throw ticket;

    const { videoId } = await upload(file, ticket, {
      signal: controller.signal,
      onProgress({ sent, total }) {
        bar.value = sent / total;
      },
    });
    output.textContent = `${videoId} has arrived`;
  } catch (error) {
    output.textContent = `Upload failed: ${error instanceof DOMException ? error.name : error.code}`;
  }
});
