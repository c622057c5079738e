// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
import { define } from './element-base.ts';
import { FramelanePlayerElement } from './player/player-element.ts';

define('framelane-player', FramelanePlayerElement);

export { FramelanePlayerElement, type PlayerEventMap } from './player/player-element.ts';
export type { PlayerAbilities, PlayerFailure, PlayerTime } from './player/player-messages.ts';
