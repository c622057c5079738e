import { z } from 'zod';
import { ENGINE_STOPPED, TRANSCODE_FAILURE_CODES } from './failures.ts';
import { newId } from './ids.ts';
import { DERIVATION_COMMANDS, type DerivationCommand } from './outputs/kinds.ts';
import { taskResultSchema } from './outputs/outputs.ts';
import { startedRenditionsSchema } from './outputs/renditions.ts';

/** Version of all messages. Increase it with a breaking change, and accept both versions for one release. */
const VERSION = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A transfer. That of a resumable upload has the epoch in which its engine opened it: events of earlier epochs are ignored. */
export const transferSchema = z.object({
  videoId: z.string(),
  transferId: z.string(),
  epoch: z.int().positive().optional(),
});

/** A complete file in the object store. */
export const uploadCompletedSchema = transferSchema.extend({
  bytes: z.int().positive(),
  /** Lower-case hex; null if no engine received the whole file. */
  sha256: sha256.nullable(),
});

/** One try of a task of an attempt. All three numbers fence off late results. */
export const taskTrySchema = z.object({
  videoId: z.string(),
  attempt: z.int().positive(),
  /** The number of the task in the plan. */
  task: z.int().nonnegative(),
  try: z.int().positive(),
});
export type TaskTry = z.infer<typeof taskTrySchema>;

const failure = {
  code: z.enum([...TRANSCODE_FAILURE_CODES, ENGINE_STOPPED]),
  /** One sentence for the owner of the video. The cause belongs in the engine's log. */
  message: z.string(),
  retryable: z.boolean(),
};

/** Announces work on a video. The claim says which task it is, so a lost or duplicate command does no harm. */
const command = z.object({
  videoId: z.string(),
  workspaceId: z.string(),
  /** Bytes of what the work reads. An engine with too little disk space leaves the command to other engines. */
  inputBytes: z.int().positive(),
  /** The time since which the task waits. A command that is sent again has the same time. */
  waitingSince: z.iso.datetime(),
});

/** The types of commands to the engines. */
export const COMMAND_TYPES = ['plan', 'task', 'background', ...DERIVATION_COMMANDS, 'clip'] as const;
export type CommandType = (typeof COMMAND_TYPES)[number];

export function isDerivationCommand(type: CommandType): type is DerivationCommand {
  return (DERIVATION_COMMANDS as readonly CommandType[]).includes(type);
}

/**
 * The data of each message, by type. `plan`, `task`, `background`, `derive`, `picture`, `transcribe` and `clip` are commands to the engines. All others are events from the engines.
 */
const dataSchemas = {
  /** A video waits to be planned. The engine that plans a short video also transcodes it. */
  plan: command,
  /** A task of a planned video waits. */
  task: command,
  /** An optional task of a ready video waits. It yields to all work that a video waits for. */
  background: command,
  /** A derivation of a ready video waits. */
  derive: command,
  /** A picture of a ready video waits. Viewers wait for it, so it has a queue of its own. */
  picture: command,
  /** A derivation of a ready video waits that needs an engine with a recogniser of speech. */
  transcribe: command,
  /** A clip of another video waits to be made. */
  clip: command,
  /** Renews the lease of the transfer. */
  'upload.progress': transferSchema.extend({
    /** Whether bytes of a resumable upload have arrived since the last message. Then the message also extends the ticket. */
    extendsTicket: z.boolean().optional(),
  }),
  'upload.completed': uploadCompletedSchema,
  /** The transfer has failed: releases its ticket. */
  'upload.aborted': transferSchema,
  /** Renews the lease of the task. `fraction` (0..1) never decreases within one try. */
  'task.progress': taskTrySchema.extend({
    fraction: z.number().min(0).max(1),
    startedRenditions: startedRenditionsSchema,
  }),
  'task.completed': taskTrySchema.extend({ result: taskResultSchema }),
  'task.failed': taskTrySchema.extend(failure),
} as const;

export type MessageType = keyof typeof dataSchemas;
export type MessageData<T extends MessageType> = z.infer<(typeof dataSchemas)[T]>;

/** The envelope of every message. `id` makes handling idempotent. */
export type MessageOf<T extends MessageType> = {
  id: string;
  type: T;
  version: number;
  /** RFC 3339, UTC. */
  occurredAt: string;
  data: MessageData<T>;
};

/** Any message, discriminated by `type`. */
export type Message = { [T in MessageType]: MessageOf<T> }[MessageType];

const envelopeSchema = z.object({
  id: z.string(),
  type: z.enum(Object.keys(dataSchemas) as [MessageType, ...MessageType[]]),
  version: z.literal(VERSION),
  occurredAt: z.iso.datetime(),
  data: z.unknown(),
});

/** A new message with a new id. Throws a ZodError if `data` does not match its type. */
export function createMessage<T extends MessageType>(type: T, data: MessageData<T>): MessageOf<T> {
  return {
    id: newId('msg'),
    type,
    version: VERSION,
    occurredAt: new Date().toISOString(),
    data: dataSchemas[type].parse(data) as MessageData<T>,
  };
}

/** Parses a received message. Throws a ZodError if it is not a valid message. */
export function parseMessage(value: unknown): Message {
  const envelope = envelopeSchema.parse(value);
  return { ...envelope, data: dataSchemas[envelope.type].parse(envelope.data) } as Message;
}
