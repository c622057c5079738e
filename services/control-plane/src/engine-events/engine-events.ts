import type { Message } from '@framelane/contracts/messages';
import { type MessageHandler, UnprocessableMessageError } from '@framelane/message-bus/message-bus';
import type { TasksService } from '../tasks/tasks.service.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';

/**
 * Applies the events of engines. An event that ends a transfer or a try is applied in one transaction. Applying an event again
 * does no harm.
 */
export function engineEventHandler(services: {
  tickets: UploadTicketsService;
  tasks: TasksService;
}): MessageHandler {
  const { tickets, tasks } = services;
  return async (message: Message) => {
    switch (message.type) {
      case 'upload.progress':
        return tickets.renew(message.data);
      case 'upload.completed':
        await tickets.complete(message.data);
        return;
      case 'upload.aborted':
        return tickets.release(message.data);
      case 'task.progress':
        return tasks.progress(message.data);
      case 'task.completed':
        return tasks.complete(message.data);
      case 'task.failed':
        return tasks.failed(message.data);
      default:
        throw new UnprocessableMessageError('A command was in the queue of events');
    }
  };
}
