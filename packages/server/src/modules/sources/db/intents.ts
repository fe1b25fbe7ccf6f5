import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { SourceIntent } from "../rules/source-intent.ts";

/** Something that an open intent keeps for itself. */
export interface ReservedKey {
  readonly tenant: number;
  readonly key: string;
}

export const loadReservations = (keys: readonly ReservedKey[]): Statement<ReservedKey[]> => ({
  name: "load_reservations",
  text: `select r.* from unnest($1::int[], $2::text[]) as k(tenant, key)
    cross join lateral (select tenant, key from holdfast.reservation r where r.tenant = k.tenant and r.key = k.key limit 1) r`,
  values: [keys.map(({ tenant }) => tenant), keys.map(({ key }) => key)],
  read: (rows) => rows as ReservedKey[],
});

const tenantOf = ({ commit }: SourceIntent): number => commit.principal.tenant;

/** The ids of these intents that have not ended. */
export const loadOpenIntents = (intents: readonly SourceIntent[]): Statement<string[]> => ({
  name: "load_open_intents",
  text: `select i.id from unnest($1::int[], $2::text[]) as k(tenant, id)
    cross join lateral (select id from holdfast.intent i where i.tenant = k.tenant and i.id = k.id limit 1) i`,
  values: [intents.map(tenantOf), intents.map(({ id }) => id)],
  read: (rows) => (rows as { id: string }[]).map(({ id }) => id),
});

/** The process that saves or takes an intent asks its source. If it dies meanwhile, another one asks after this. */
const PATIENCE = "12 seconds";

export const insertIntents = (intents: readonly SourceIntent[]): Statement<void> => {
  const reserved = intents.flatMap((intent) =>
    intent.keys.map((key) => ({ tenant: tenantOf(intent), key, intent: intent.id })),
  );
  return {
    name: "insert_intents",
    text: `with saved as (
        insert into holdfast.intent (tenant, id, source, body, ask_at)
        select i.*, clock_timestamp() + interval '${PATIENCE}' from unnest($1::int[], $2::text[], $3::text[], $4::json[]) as i)
      insert into holdfast.reservation (tenant, key, intent) select r.* from unnest($5::int[], $6::text[], $7::text[]) as r`,
    values: [
      intents.map(tenantOf),
      intents.map(({ id }) => id),
      intents.map(({ source }) => source),
      intents.map((intent) => JSON.stringify(intent)),
      reserved.map(({ tenant }) => tenant),
      reserved.map(({ key }) => key),
      reserved.map(({ intent }) => intent),
    ],
    read: () => {},
  };
};

export const deleteIntents = (intents: readonly SourceIntent[]): Statement<void> => ({
  name: "delete_intents",
  text: `with ended as (
      delete from holdfast.intent i using unnest($1::int[], $2::text[]) as k(tenant, id)
        where i.tenant = k.tenant and i.id = k.id returning i.tenant, i.id)
    delete from holdfast.reservation r using ended e where r.tenant = e.tenant and r.intent = e.id`,
  values: [intents.map(tenantOf), intents.map(({ id }) => id)],
  read: () => {},
});

/** There was no answer: it is asked about again, the later the more often there was none. */
export async function askAgain(db: Transaction, intent: SourceIntent): Promise<void> {
  await db.query(
    `update holdfast.intent set ask_at = clock_timestamp() + interval '1 second' * least(15, power(2, least(asks, 4)))
     where tenant = $1 and id = $2`,
    [tenantOf(intent), intent.id],
  );
}

/**
 * Takes intents that are due, the oldest of each source: one process at a time asks about them. `busy` are sources
 * (`<tenant> <id>`) to leave out.
 */
export async function takeDueIntents(
  db: Transaction,
  { mostOfSource, most, busy }: { mostOfSource: number; most: number; busy: readonly string[] },
): Promise<SourceIntent[]> {
  const { rows } = await db.query<{ body: string }>(
    `with due as (
       select tenant, id, row_number() over (partition by tenant, source order by ask_at, id) as place from holdfast.intent
       where ask_at <= clock_timestamp() and tenant || ' ' || source <> all($3::text[]))
     update holdfast.intent i set asks = i.asks + 1, ask_at = clock_timestamp() + interval '${PATIENCE}'
     from (select tenant, id from due where place <= $1 order by place limit $2) d
     where i.tenant = d.tenant and i.id = d.id and i.ask_at <= clock_timestamp() returning i.body::text as body`,
    [mostOfSource, most, busy],
  );
  return rows.map(({ body }) => JSON.parse(body) as SourceIntent);
}

/** Forgets what has not happened yet at a source that is removed. */
export async function withdrawIntents(tx: Transaction, tenant: number, source: string): Promise<void> {
  await tx.query(
    `with ended as (delete from holdfast.intent where tenant = $1 and source = $2 returning id)
     delete from holdfast.reservation r using ended e where r.tenant = $1 and r.intent = e.id`,
    [tenant, source],
  );
}

/** Whether commits are on their way to a source. */
export async function hasIntents(tx: Transaction, tenant: number, source: string): Promise<boolean> {
  const { rowCount } = await tx.query("select from holdfast.intent where tenant = $1 and source = $2 limit 1", [
    tenant,
    source,
  ]);
  return rowCount === 1;
}
