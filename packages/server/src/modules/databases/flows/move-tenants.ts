import { setTimeout as sleep } from "node:timers/promises";
import { sentence } from "../../../kernel/connection/error-sentence.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import {
  deleteLeftDatasource,
  deleteMove,
  listMoves,
  lockMoveRow,
  type Move,
  noteMoveError,
  setDatabase,
} from "../db/moves.ts";
import { clearSource, moveTenant } from "./move-tenant.ts";

/** Removes a move that is over or given up, and the tenant's own datasource if it does not live there. */
export const endMove = (db: Database, { id, tenant }: Pick<Move, "id" | "tenant">): Promise<void> =>
  transaction(db, async (tx) => {
    if (await deleteMove(tx, id)) await deleteLeftDatasource(tx, tenant);
  });

export interface MoveTenantsDeps {
  /** The service's own database. */
  readonly db: Database;
  /** The address of a database. Null: the service's own. */
  urlOf(id: string | null): Promise<string>;
  /** The tenant lives elsewhere now: everybody has to look its database up again. */
  moved(tenant: number): void;
  failed(error: unknown): void;
  /** Fires when the server stops. What is cut off goes on later. */
  readonly stopping: AbortSignal;
}

/** How long requests may go on that were sent to the old database just before. */
const GRACE_MS = 1_000;

/** Carries out all moves that are asked for, one beside the other. The function looks for new ones, and does not wait. */
export function moveTenants({ db, urlOf, moved, failed, stopping }: MoveTenantsDeps): () => Promise<void> {
  const running = new Set<number>();

  async function carryOut(move: Move): Promise<void> {
    const { tenant, source, target } = move;
    const urls = { source: await urlOf(source), target: await urlOf(target) };
    const isAsked = () => transaction(db, (tx) => lockMoveRow(tx, move.id));
    const outcome = await moveTenant(urls, move, isAsked, stopping);
    if (outcome === "busy" || outcome === "over") return;
    const isThere = await transaction(db, async (tx) => {
      const asked = await lockMoveRow(tx, move.id);
      if (asked) await setDatabase(tx, tenant, target);
      return asked;
    });
    if (!isThere) return;
    moved(tenant);
    if (outcome === "there") return await endMove(db, move);
    await sleep(GRACE_MS, undefined, { signal: stopping });
    if ((await clearSource(urls, tenant, isAsked, stopping)) === "done") await endMove(db, move);
  }

  async function attempt(move: Move): Promise<void> {
    running.add(move.tenant);
    try {
      await carryOut(move);
    } catch (error) {
      if (stopping.aborted) return;
      failed(error);
      await noteMoveError(db, move.id, sentence(error)).catch(failed);
    } finally {
      running.delete(move.tenant);
    }
  }

  return async () => {
    for (const move of await listMoves(db)) if (!running.has(move.tenant)) void attempt(move);
  };
}
