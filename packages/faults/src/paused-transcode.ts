import { until } from '@framelane/test-kit/until';
import type { Cluster } from './cluster.ts';
import { hasLogged } from './logged.ts';
import type { ServiceProcess } from './service-process.ts';

/**
 * Uploads a file and stops its encoder soon after the start, before it can have ended. Resolves with the video and the engine;
 * `engine.signalPrograms('SIGCONT')` lets it continue.
 */
export async function beginPausedTranscode(
  cluster: Cluster,
  file: string,
): Promise<{ videoId: string; engine: ServiceProcess }> {
  const videoId = await cluster.api.send(file);
  const engine = await until(() =>
    cluster.engines.find((each) => hasLogged([each], 'transcode.planned', videoId)),
  );
  await until(async () => {
    await engine.signalPrograms('SIGSTOP');
    return engine.hasStoppedProgram();
  });
  return { videoId, engine };
}
