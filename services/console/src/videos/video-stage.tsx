import type { Video } from '@framelane/client';
import { Progress, Text } from '@mantine/core';
import { shapeOf } from './player-shape.ts';
import { isPlayable, useTimeline } from './queries.ts';
import { stageOf } from './timeline-words.ts';
import './video-stage.css';

/** The current stage of a video that is not ready, and the next one: in the place of the player, or in one line below it. */
export function VideoStage({ video }: { video: Video }) {
  const { data: timeline } = useTimeline(video);
  const { now, next, percent } = stageOf(video, timeline);
  const isBelow = isPlayable(video);
  return (
    <div className={isBelow ? 'stage' : 'stage player'} style={isBelow ? undefined : shapeOf(video)}>
      <Text fw={600}>{now}</Text>
      {percent !== null && <Progress value={percent} aria-label="Progress of this step" />}
      <Text className="hint">{next}</Text>
    </div>
  );
}
