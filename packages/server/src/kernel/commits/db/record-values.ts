import type { Statement } from "../../connection/statement.ts";
import { type Transaction, takeTime } from "../../connection/transaction.ts";
import type { DeclaredValue } from "../../schema/rules/declared-values.ts";
import type { RecordName } from "./records.ts";

/** A value of a model's declaration, as JSON. */
export interface ValueName {
  readonly tenant: number;
  readonly model: string;
  readonly name: string;
  readonly text: string;
}

const HASH = "sha256(convert_to(k.text, 'UTF8'))";

/** The records that have each of the values, up to `most`, in the order of the values. Each value is one probe of the index. */
export const loadHolders = (values: readonly ValueName[], most: number): Statement<string[][]> => ({
  name: "load_holders",
  text: `select k.n::int, v.id from unnest($1::int[], $2::text[], $3::text[], $4::text[]) with ordinality as k(tenant, model, name, text, n)
    cross join lateral (select id from holdfast.record_value v
      where v.tenant = k.tenant and v.model = k.model and v.name = k.name and v.hash = ${HASH} limit $5) v`,
  values: [
    values.map(({ tenant }) => tenant),
    values.map(({ model }) => model),
    values.map(({ name }) => name),
    values.map(({ text }) => text),
    most,
  ],
  read: (rows) => {
    const found = values.map((): string[] => []);
    for (const { n, id } of rows as { n: number; id: string }[]) found[n - 1]?.push(id);
    return found;
  },
});

/** A declaration by which a deletion goes on to the records that have the value. */
export interface CascadeLink {
  /** The model of the records that are referenced. */
  readonly target: string;
  readonly model: string;
  readonly name: string;
}

/**
 * The records that are deleted with those that the values name, and with these, and so on: up to `most`, each once. Each
 * record costs a probe of the index for each link to its model.
 */
export const loadCascades = (
  tenant: number,
  values: readonly Omit<ValueName, "tenant">[],
  links: readonly CascadeLink[],
  most: number,
): Statement<{ readonly model: string; readonly id: string }[]> => ({
  name: "load_cascades",
  text: `with recursive reached(model, id) as (
      select k.model collate "C", v.id from unnest($2::text[], $3::text[], $4::text[]) as k(model, name, text)
        cross join lateral (select id from holdfast.record_value v
          where v.tenant = $1 and v.model = k.model and v.name = k.name and v.hash = ${HASH} offset 0) v
      union
      select l.model collate "C", v.id from reached r join unnest($5::text[], $6::text[], $7::text[]) as l(target, model, name) on l.target = r.model
        cross join lateral (select id from holdfast.record_value v
          where v.tenant = $1 and v.model = l.model and v.name = l.name
            and v.hash = sha256(convert_to(to_json(r.id)::text, 'UTF8')) offset 0) v
    ) select model, id from reached limit $8`,
  values: [
    tenant,
    values.map(({ model }) => model),
    values.map(({ name }) => name),
    values.map(({ text }) => text),
    links.map(({ target }) => target),
    links.map(({ model }) => model),
    links.map(({ name }) => name),
    most,
  ],
  read: (rows) => rows as { model: string; id: string }[],
});

/** A record with all its values; none if it was deleted. */
export interface ValuedRecord extends RecordName {
  readonly values: readonly Pick<ValueName, "name" | "text">[];
}

/**
 * Replaces the values of records. Two statements: in one, the insert would find what the delete has not removed yet.
 * The delete has no name, so that it is planned each time, as that of records.
 */
export function replaceValues(records: readonly ValuedRecord[]): Statement<void>[] {
  const rows = records.flatMap(({ values, ...record }) => values.map((value) => ({ ...record, ...value })));
  return [
    {
      name: "",
      text: `delete from holdfast.record_value where ctid = any(array(
        select v.ctid from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
        cross join lateral (select ctid from holdfast.record_value v
          where v.tenant = k.tenant and v.model = k.model and v.id = k.id offset 0) v))`,
      values: [records.map(({ tenant }) => tenant), records.map(({ model }) => model), records.map(({ id }) => id)],
      read: () => {},
    },
    {
      name: "insert_values",
      text: `insert into holdfast.record_value (tenant, model, id, name, hash)
        select k.tenant, k.model, k.id, k.name, ${HASH}
        from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[]) as k(tenant, model, id, name, text)`,
      values: [
        rows.map(({ tenant }) => tenant),
        rows.map(({ model }) => model),
        rows.map(({ id }) => id),
        rows.map(({ name }) => name),
        rows.map(({ text }) => text),
      ],
      read: () => {},
    },
  ];
}

/** Forgets the values of a model, or of some of its declarations. */
export async function dropValues(
  tx: Transaction,
  tenant: number,
  model: string,
  names?: readonly string[],
): Promise<void> {
  await tx.query(
    "delete from holdfast.record_value where tenant = $1 and model = $2 and ($3::text[] is null or name = any($3))",
    [tenant, model, names ?? null],
  );
}

/**
 * Collects the values of a declaration from all records, in the form that the newest schema gives them. The texts are
 * those of `valueTexts`: stored JSON has been written by JSON.stringify, as those were.
 */
export async function collectValues(
  tx: Transaction,
  tenant: number,
  model: string,
  { kind, name, fields }: DeclaredValue,
): Promise<void> {
  await takeTime(tx);
  await tx.query(
    `insert into holdfast.record_value (tenant, model, id, name, hash)
     select distinct $1::int, $2::text, k.id, $3::text, ${HASH} from (${kind === "unique" ? COMBINATIONS : REFERENCES}) k`,
    [tenant, model, name, fields],
  );
}

const COMBINATIONS = `
  select r.id, '[' || array_to_string(array(
      select (r.data -> f.name)::text from unnest($4::text[]) with ordinality as f(name, n) order by f.n), ',') || ']' as text
  from holdfast.present_record r where r.tenant = $1 and r.model = $2
    and not exists (select from unnest($4::text[]) as f(name) where coalesce(json_typeof(r.data -> f.name), 'null') = 'null')`;

const REFERENCES = `
  select r.id, i.item::text as text
  from holdfast.present_record r cross join unnest($4::text[]) as f(name)
  cross join lateral (
    select r.data -> f.name as item where json_typeof(r.data -> f.name) = 'string'
    union all
    select e.item from json_array_elements(
      case when json_typeof(r.data -> f.name) = 'array' then r.data -> f.name else '[]' end) as e(item)
    where json_typeof(e.item) = 'string') i
  where r.tenant = $1 and r.model = $2`;

/** Values that several records have, some of them, with the first ids. */
export async function readDuplicates(
  tx: Transaction,
  tenant: number,
  model: string,
  name: string,
): Promise<{ readonly ids: readonly string[]; readonly count: number }[]> {
  const { rows } = await tx.query<{ ids: string[]; count: number }>(
    `select (array_agg(id order by id))[1:5] as ids, count(*)::int as count from holdfast.record_value
     where tenant = $1 and model = $2 and name = $3 group by hash having count(*) > 1 order by min(id) limit 10`,
    [tenant, model, name],
  );
  return rows;
}
