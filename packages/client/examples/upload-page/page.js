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
    // Your server asks for the ticket, since keys do not belong in web pages. The file goes straight to the engine.
    const body = JSON.stringify({ filename: file.name, size: file.size });
    const answer = await fetch('/tickets', { method: 'POST', body });
    const ticket = await answer.json();
    if (!answer.ok) throw ticket;

    const { videoId } = await upload(file, ticket, {
      signal: controller.signal,
      onProgress({ sent, total }) {
        bar.value = sent / total;
      },
    });
    output.textContent = `${videoId} has arrived`;
  } catch (error) {
    output.textContent = `Nothing came of it: ${error instanceof DOMException ? error.name : error.code}`;
  }
});
