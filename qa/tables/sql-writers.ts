import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { SeededRandom } from "../support/seeded-random.ts";
import type { SqlCall } from "./evidence.ts";
import {
  type Change,
  changeLargeRow,
  changeUnreadableRow,
  LARGE_PERIODS,
  type LargeKind,
  largeTransaction,
  leaveLargeRows,
} from "./large-changes.ts";
import { createTurns } from "./large-turns.ts";
import { SHARED } from "./tables-sql.ts";

export interface SqlWriters {
  calls(): readonly SqlCall[];
  /** Starts no more transactions, and leaves rows with large values once all have ended. */
  finish(): Promise<void>;
}

export interface SqlWriterOptions {
  readonly databaseUrl: string;
  readonly writers: number;
  readonly seed: number;
}

const REST_MS = 40;

/** Writers in plain SQL that know nothing of Holdfast. Each transaction writes a value of its own, its mark. */
export function startSqlWriters({ databaseUrl, writers, seed }: SqlWriterOptions): SqlWriters {
  const calls: SqlCall[] = [];
  const turns = createTurns(LARGE_PERIODS, performance.now());
  let largeTransactions = 0;
  let isWritingLarge = false;
  let stopping = false;

  const called = (mark: string): SqlCall => {
    const call: SqlCall = { mark, outcome: "undone", wrote: false };
    calls.push(call);
    return call;
  };

  /** One at a time, which bounds the memory of Postgres. */
  async function writeLarge(client: pg.Client, kind: LargeKind, call: SqlCall, chance: SeededRandom): Promise<boolean> {
    const changes = {
      row: changeLargeRow,
      unreadable: changeUnreadableRow,
      transaction: largeTransaction(largeTransactions),
    };
    isWritingLarge = true;
    const isUsable = await write(client, call, chance, changes[kind]);
    isWritingLarge = false;
    if (call.outcome !== "committed") turns.missed(kind);
    if (kind === "transaction" && call.outcome !== "undone") largeTransactions += 1;
    return isUsable;
  }

  const loops = Array.from({ length: writers }, async (_, writer) => {
    const chance = SeededRandom.of(seed, 1_000 + writer);
    let client: pg.Client | undefined;
    for (let n = 0; !stopping; n++) {
      client ??= await connect(databaseUrl);
      if (!client) {
        await pause(100);
        continue;
      }
      const call = called(`sql${writer}-${n}`);
      const large = isWritingLarge ? undefined : turns.take(performance.now());
      const isUsable = large
        ? await writeLarge(client, large, call, chance)
        : await write(client, call, chance, CHANGES[chance.weighed(WEIGHTS)]);
      if (!isUsable) {
        await client.end().catch(() => {});
        client = undefined;
      }
      await pause(chance.below(REST_MS));
    }
    await client?.end();
  });
  return {
    calls: () => calls,
    async finish() {
      stopping = true;
      await Promise.all(loops);
      await leave();
    },
  };

  /** Until it is done: no fault comes any more, but Postgres may still be starting. */
  async function leave(): Promise<void> {
    const chance = SeededRandom.of(seed, 3_000);
    for (let n = 0; calls.at(-1)?.outcome !== "committed" || n === 0; n++) {
      const client = await connect(databaseUrl);
      if (client) await write(client, called(`sql-left-${n}`), chance, leaveLargeRows);
      await client?.end().catch(() => {});
    }
  }
}

async function connect(connectionString: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  // A connection that is cut rejects its query; this only keeps Node from exiting.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

/** One transaction. Returns whether the connection can be used again. */
async function write(client: pg.Client, call: SqlCall, chance: SeededRandom, change: Change): Promise<boolean> {
  try {
    await client.query("begin");
    await client.query("select set_config('writer.mark', $1, true)", [call.mark]);
    call.wrote = (await change(client, call.mark, chance)) > 0;
    if (chance.percent(10)) {
      await client.query("rollback");
      return true;
    }
  } catch {
    // A deadlock, a taken title, a connection that was cut: in each case nothing of it stays.
    return client.query("rollback").then(
      () => true,
      () => false,
    );
  }
  try {
    call.outcome = "unknown";
    await client.query("commit");
    call.outcome = "committed";
    return true;
  } catch {
    return false;
  }
}

const WEIGHTS = {
  update: 250,
  several: 80,
  twice: 60,
  insert: 120,
  upsert: 100,
  join: 40,
  remove: 60,
  deck: 30,
  slow: 60,
  savepoint: 40,
  note: 200,
  removeNote: 30,
  many: 3,
  truncate: 5,
};

const slideIn = (chance: SeededRandom) => `slide-${chance.below(SHARED.slides)}`;
const deckIn = (chance: SeededRandom) => `deck-${chance.below(SHARED.decks)}`;
const noteIn = (chance: SeededRandom) => `note-${chance.below(SHARED.notes)}`;
const UPSERT = `insert into slides (id, deck_id, mark) values ($1, (select id from decks where id = $2), $3)
  on conflict (id) do update set mark = excluded.mark`;

const CHANGES: Readonly<Record<keyof typeof WEIGHTS, Change>> = {
  update: (client, mark, chance) => count(client, "update slides set mark = $2 where id = $1", [slideIn(chance), mark]),
  async several(client, mark, chance) {
    // In any order: some of these end in a deadlock.
    let rows = 0;
    for (let n = 0; n < 3; n++)
      rows += await count(client, "update slides set mark = $2 where id = $1", [slideIn(chance), mark]);
    return rows;
  },
  async twice(client, mark, chance) {
    const slide = slideIn(chance);
    await count(client, "update slides set mark = 'not yet' where id = $1", [slide]);
    return count(client, "update slides set mark = $2 where id = $1", [slide, mark]);
  },
  insert: (client, mark, chance) =>
    count(
      client,
      `insert into slides (id, deck_id, title, mark)
        select $1 || '-' || n, (select id from decks where id = $2), case when n = 1 then $3 end, $1
          from generate_series(1, 3) n`,
      [mark, deckIn(chance), chance.percent(20) ? "A title that is taken" : mark],
    ),
  upsert: (client, mark, chance) => count(client, UPSERT, [slideIn(chance), deckIn(chance), mark]),
  join: (client, mark, chance) =>
    count(
      client,
      `update slides s set mark = $2 from decks d
        where d.id = s.deck_id and d.id = $1 and s.id < 'slide-2'`,
      [deckIn(chance), mark],
    ),
  remove: async (client, _, chance) => {
    await client.query("delete from slides where id = $1", [slideIn(chance)]);
    return 0;
  },
  async deck(client, mark, chance) {
    // With its slides. Another transaction may have put it back already.
    const deck = deckIn(chance);
    if (chance.percent(50)) await client.query("delete from decks where id = $1", [deck]);
    else
      return count(
        client,
        "insert into decks (id, mark) values ($1, $2) on conflict (id) do update set mark = excluded.mark",
        [deck, mark],
      );
    return 0;
  },
  async slow(client, mark, chance) {
    const rows = await count(client, UPSERT, [slideIn(chance), deckIn(chance), mark]);
    await pause(50 + chance.below(450));
    return rows + (await count(client, "update slides set mark = $2 where id = $1", [slideIn(chance), mark]));
  },
  async savepoint(client, mark, chance) {
    await client.query("savepoint s");
    await client.query("insert into slides (id, mark) values ($1, $2)", [`${mark}-undone`, `${mark}-undone`]);
    await client.query("rollback to savepoint s");
    return count(client, UPSERT, [slideIn(chance), deckIn(chance), mark]);
  },
  note: (client, mark, chance) =>
    count(
      client,
      `with before as materialized (select id, mark from notes where id = $1 for update),
        changed as (update notes n set mark = $2, found = before.mark from before where n.id = before.id returning n.id),
        made as (insert into notes (id, mark) select $1, $2 where not exists (select from before) returning id)
      insert into noted (model, id, mark) select 'note', id, $2 from (select id from changed union all select id from made) c`,
      [noteIn(chance), mark],
    ),
  async removeNote(client, _, chance) {
    await client.query(
      "with gone as (delete from notes where id = $1 returning id) insert into noted (model, id) select 'note', id from gone",
      [noteIn(chance)],
    );
    return 0;
  },
  // More than are collected in one step.
  many: (client, mark) =>
    count(
      client,
      `with made as (insert into notes (id, mark) select $1 || '-' || n, $1 from generate_series(1, 450) n returning id)
      insert into noted (model, id, mark) select 'note', id, $1 from made`,
      [mark],
    ),
  async truncate(client) {
    await client.query("truncate slides");
    return 0;
  },
};

async function count(client: pg.Client, text: string, values: readonly unknown[]): Promise<number> {
  const { rowCount } = await client.query(text, [...values]);
  return rowCount ?? 0;
}
