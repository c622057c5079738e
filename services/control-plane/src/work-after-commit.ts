import { COMMAND_TYPES } from '@framelane/contracts/messages';
import { DueLoop } from './background/due-loop.ts';
import type { ControlPlaneConfig } from './config.ts';
import type { Infrastructure } from './infrastructure.ts';
import { PictureWaits } from './pictures/picture-waits.ts';
import { Commands } from './tasks/commands.service.ts';
import { EndedTransfers } from './upload-tickets/ended-transfers.ts';
import { ObjectPurges } from './videos/object-purges.service.ts';
import { WebhookDeliveriesService } from './webhooks/deliveries.service.ts';
import { DeliverySender } from './webhooks/delivery-sender.ts';

/** The work that follows from commits, and its loops. */
export type WorkAfterCommit = ReturnType<typeof createWorkAfterCommit>;

/** Builds the work after commits. Services call `onCommit` and `onDelivery`, which wake the loops. */
export function createWorkAfterCommit(config: ControlPlaneConfig, infrastructure: Infrastructure) {
  const { bus, objects, db, logger, tracing, clock, metrics, guard, webhookKeys } = infrastructure;
  const { workspaceMaxTasks } = config.attempts;
  const commands = COMMAND_TYPES.map((type) => new Commands(type, { db, bus, logger, workspaceMaxTasks }));
  const transfers = new EndedTransfers({ db });
  const purges = new ObjectPurges({
    db,
    objects,
    transfers,
    purgeRepeatSeconds: config.purgeRepeatSeconds,
  });
  const webhookDeliveries = new WebhookDeliveriesService({
    db,
    sender: new DeliverySender({ guard, clock, timeoutSeconds: config.webhooks.timeoutSeconds }),
    logger,
    metrics,
    sealingKeys: webhookKeys,
    settings: config.webhooks,
  });
  const loopOptions = { pollSeconds: config.pollSeconds, logger, tracing };
  const deliveryLoop = new DueLoop(webhookDeliveries, loopOptions);
  const loops = [
    ...commands.map((each) => new DueLoop(each, loopOptions)),
    new DueLoop(purges, loopOptions),
    deliveryLoop,
  ];
  const pictureWaits = new PictureWaits({ db, logger });
  const onDelivery = () => deliveryLoop.wake();
  const onCommit = () => {
    for (const loop of loops) loop.wake();
    pictureWaits.wake();
  };
  return { commands, pictureWaits, purges, webhookDeliveries, loops, onCommit, onDelivery };
}
