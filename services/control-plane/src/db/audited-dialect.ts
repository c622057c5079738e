import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type TransactionSettings,
} from 'kysely';
import { type Actor, currentActor } from './actor.ts';

/** PostgreSQL whose transactions know who changes something, so that the trigger `record_change` records it. */
export class AuditedDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;

  constructor(config: PostgresDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new AuditedDriver(this.#config);
  }
}

class AuditedDriver extends PostgresDriver {
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings);
    const actor = currentActor();
    if (actor === undefined) return;
    try {
      await connection.executeQuery(CompiledQuery.raw(SET_ACTOR, [JSON.stringify(actor)]));
    } catch (error) {
      // Kysely has not begun its transaction yet, so it would return the connection as it is.
      await this.rollbackTransaction(
        connection as Parameters<PostgresDriver['rollbackTransaction']>[0],
      ).catch(() => {});
      throw error;
    }
  }
}

/** Until the end of the transaction: a pooler gives its connection to others then. */
const SET_ACTOR = `select set_config('framelane.actor', $1, true)`;

/** Statement and values that make all changes of a session those of an actor, also those outside of transactions. */
export function sessionOf(actor: Actor): { text: string; values: string[] } {
  return { text: `select set_config('framelane.actor', $1, false)`, values: [JSON.stringify(actor)] };
}
