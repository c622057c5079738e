import { z } from 'zod';
import { readSettings, setting } from './settings.ts';

const s3Settings = z.object({
  S3_ENDPOINT: setting.httpUrl().optional(),
  S3_PUBLIC_ENDPOINT: setting.httpUrl().optional(),
  S3_BUCKET: setting.text(),
  S3_REGION: setting.text().default('us-east-1'),
  S3_ACCESS_KEY_ID: setting.text(),
  S3_SECRET_ACCESS_KEY: setting.text(),
});

/** Address and credentials of the object store. */
export type S3Settings = {
  endpoint?: string;
  publicEndpoint?: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
};

/** Reads the settings of the object store. Throws a SettingsError that names each missing or invalid variable. */
export function readS3Settings(env: NodeJS.ProcessEnv): S3Settings {
  const values = readSettings(s3Settings, env);
  return {
    ...(values.S3_ENDPOINT !== undefined && { endpoint: values.S3_ENDPOINT }),
    ...(values.S3_PUBLIC_ENDPOINT !== undefined && { publicEndpoint: values.S3_PUBLIC_ENDPOINT }),
    region: values.S3_REGION,
    bucket: values.S3_BUCKET,
    accessKeyId: values.S3_ACCESS_KEY_ID,
    secretAccessKey: values.S3_SECRET_ACCESS_KEY,
    forcePathStyle: values.S3_ENDPOINT !== undefined,
  };
}

const amqpSettings = z.object({ AMQP_URL: setting.amqpUrl() });

/** Reads the address of the message broker. Throws a SettingsError when it is missing or invalid. */
export function readAmqpUrl(env: NodeJS.ProcessEnv): string {
  return readSettings(amqpSettings, env).AMQP_URL;
}

/** The names of these settings. */
export const SETTING_NAMES: readonly string[] = [s3Settings, amqpSettings].flatMap(({ shape }) =>
  Object.keys(shape),
);
