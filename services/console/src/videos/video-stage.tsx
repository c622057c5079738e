import type { Video } from '@framelane/client';
import { Progress, Text } from '@mantine/core';
import { useTimeline } from './queries.ts';
import { stageOf } from './timeline-words.ts';
import './video-stage.css';

/** The current stage of a video that is not ready, and the next one. */
export function VideoStage({ video }: { video: Video }) {
  const { data: timeline } = useTimeline(video);
  const { now, next, percent } = stageOf(video, timeline);
  return (
    <div className="stage">
      <Text fw={600}>{now}</Text>
      <Progress value={percent ?? 0} aria-label="Progress of this step" />
      <Text className="hint">{next}</Text>
    </div>
  );
}
