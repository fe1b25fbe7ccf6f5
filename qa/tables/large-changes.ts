import type pg from "pg";
import type { SeededRandom } from "../support/seeded-random.ts";
import { FORMS, type Form, LARGE_COLUMNS, SHARED_PAPERS } from "./papers-sql.ts";
import { SHARED } from "./tables-sql.ts";

/** Changes rows, and returns how many it has inserted or updated. */
export type Change = (client: pg.Client, mark: string, chance: SeededRandom) => Promise<number>;

/** Kinds of transactions in SQL with large values, and how often they are due. */
export const LARGE_PERIODS = { row: 4_000, unreadable: 10_000, transaction: 20_000 } as const;
export type LargeKind = keyof typeof LARGE_PERIODS;

const MIB = 2 ** 20;
/** Far from the bound of 16 MiB on both sides, since its last bytes depend on how JSON is spaced. */
const LARGE = { least: MIB, most: 12 * MIB };
const UNREADABLE = { least: 17 * MIB, most: 40 * MIB };
/** Reading very many small values takes longer. */
const MOST_ITEMS = 4 * MIB;

const paperIn = (chance: SeededRandom) => `paper-${chance.below(SHARED_PAPERS)}`;
/** Half of the papers are in no deck: then no trigger writes an attached table. */
const deckIn = (chance: SeededRandom) => (chance.percent(50) ? null : `deck-${chance.below(SHARED.decks)}`);
const within = ({ least, most }: typeof LARGE | typeof UNREADABLE, chance: SeededRandom) =>
  least + chance.below(most - least);

async function count(client: pg.Client, text: string, values: readonly unknown[]): Promise<number> {
  const { rowCount } = await client.query(text, [...values]);
  return rowCount ?? 0;
}

interface Paper {
  readonly id: string;
  readonly deck: string | null;
  readonly form: Form;
  readonly bytes: number;
}

const writePaper = (client: pg.Client, mark: string, { id, deck, form, bytes }: Paper): Promise<number> =>
  count(
    client,
    `insert into papers (mark, body, doc, id, deck_id)
      select $1::text, ${LARGE_COLUMNS}, $4, (select id from decks where id = $5)
      on conflict (id) do update set mark = excluded.mark, body = excluded.body, doc = excluded.doc, deck_id = excluded.deck_id`,
    [mark, form, bytes, id, deck],
  );

const ROW_WEIGHTS = { written: 40, touched: 25, twice: 5, smaller: 15, removed: 15 };

/** One row with a large value: written, changed, made small again, or deleted. */
export const changeLargeRow: Change = async (client, mark, chance) => {
  const id = paperIn(chance);
  const form = chance.oneOf(FORMS);
  const bytes = form === "items" ? within({ ...LARGE, most: MOST_ITEMS }, chance) : within(LARGE, chance);
  const paper = { id, deck: deckIn(chance), form, bytes };
  switch (chance.weighed(ROW_WEIGHTS)) {
    case "written":
      return writePaper(client, mark, paper);
    case "touched":
      return count(client, "update papers set mark = $2 where id = $1", [id, mark]);
    case "twice":
      await writePaper(client, "not yet", paper);
      return count(client, "update papers set mark = $2, body = reverse(body) where id = $1", [id, mark]);
    case "smaller":
      return count(client, "update papers set mark = $2, body = 'small', doc = null where id = $1", [id, mark]);
    case "removed":
      await client.query("delete from papers where id = $1", [id]);
      return 0;
  }
};

/** A row that is too large to be read: it becomes that, is that already and changes, or ends. */
export const changeUnreadableRow: Change = async (client, mark, chance) => {
  const form = chance.oneOf(["plain", "repeated", "escaped", "document"] as const);
  const paper = { id: paperIn(chance), deck: deckIn(chance), form, bytes: within(UNREADABLE, chance) };
  const others = chance.percent(30) ? await touchAll(client, mark) : 0;
  return others + (await writePaper(client, mark, paper));
};

/** In the order of their keys, so that two of them do not wait for each other. */
const touchAll = (client: pg.Client, mark: string): Promise<number> =>
  count(
    client,
    `update papers set mark = $1 where id in (select id from papers where id like 'paper-%' and
      (octet_length(body) > ${16 * MIB} or pg_column_size(doc) > ${16 * MIB}) order by id for update)`,
    [mark],
  );

const SMALL_ROWS = 5_000;
const PACKED_ROWS = 60;
const PACKED_BYTES = 1_000_000;

/**
 * Many rows in one statement: inserted, then updated, then deleted, each in a transaction of its own. Small ones that
 * have no triggers, and ones of 1 MB; those of every other round are in a deck, which each of them touches.
 */
export function largeTransaction(step: number): Change {
  const set = Math.floor(step / LARGE_STEPS.length);
  const change = LARGE_STEPS[step % LARGE_STEPS.length] as (set: number) => Change;
  return change(set);
}

const LARGE_STEPS: readonly ((set: number) => Change)[] = [
  (set) => (client, mark) =>
    count(
      client,
      `with made as (insert into notes (id, mark) select 'bulk-' || $2 || '-' || n, $1 from generate_series(1, ${SMALL_ROWS}) n returning id)
      insert into noted (model, id, mark) select 'note', id, $1 from made`,
      [mark, String(set)],
    ),
  (set) => (client, mark, chance) =>
    count(
      client,
      `insert into papers (mark, body, doc, id, deck_id)
        select $1::text, ${LARGE_COLUMNS}, 'pack-' || $4 || '-' || n, (select id from decks where id = $5) from generate_series(1, ${PACKED_ROWS}) n`,
      [
        ...[mark, chance.oneOf(["plain", "repeated", "document"]), PACKED_BYTES, String(set)],
        set % 2 === 0 ? null : `deck-${chance.below(SHARED.decks)}`,
      ],
    ),
  // With rows that all writers change.
  () => (client, mark) =>
    count(
      client,
      `with before as materialized (select id, mark from notes where id like 'bulk-%' or id < 'note-15' and id like 'note-%' order by id for update),
        changed as (update notes n set mark = $1, found = before.mark from before where n.id = before.id returning n.id)
      insert into noted (model, id, mark) select 'note', id, $1 from changed`,
      [mark],
    ),
  () => (client, mark, chance) =>
    count(
      client,
      `update papers set mark = $1, body = reverse(body) where id in (
        select id from papers where id like 'pack-%' or id = $2 order by id for update)`,
      [mark, paperIn(chance)],
    ),
  () => async (client) => {
    await client.query(
      "with gone as (delete from notes where id like 'bulk-%' returning id) insert into noted (model, id) select 'note', id from gone",
    );
    return 0;
  },
  () => async (client) => {
    await client.query("delete from papers where id like 'pack-%'");
    return 0;
  },
];

/** At the end of a run: one row that is large, and one that is unreadable. */
export const leaveLargeRows: Change = async (client, mark) =>
  (await writePaper(client, mark, { id: "paper-large", deck: null, form: "plain", bytes: LARGE.most })) +
  (await writePaper(client, mark, { id: "paper-unreadable", deck: null, form: "plain", bytes: UNREADABLE.least }));
