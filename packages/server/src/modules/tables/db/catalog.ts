import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { CatalogCheck, CatalogColumn, CatalogForeignKey, CatalogTable } from "../rules/catalog-table.ts";
import type { CatalogIndex } from "../rules/compare-model.ts";

/**
 * What the catalog says of tables and views, in the order of their names. Names are read as in SQL: quotes, and the
 * search path. `unknown`: the names that no table or view has.
 */
export async function readCatalog(
  db: Transaction,
  names: readonly string[],
): Promise<{ readonly tables: CatalogTable[]; readonly unknown: string[] }> {
  const relations = await readRelations(db, names.filter(isName));
  const found = new Set(relations.map(({ asked }) => asked));
  const byRelation = new Map(relations.map((relation) => [relation.relation, relation]));
  const columns = await readColumns(db, [...byRelation.keys()]);
  const constraints = await readConstraints(db, [...byRelation.keys()]);
  return {
    tables: [...byRelation.values()].map((table) => ({
      ...table,
      columns: columns.get(table.relation) ?? [],
      ...constraintsOf(constraints.filter(({ relation }) => relation === table.relation)),
    })),
    unknown: names.filter((name) => !found.has(name)),
  };
}

/** The indexes of a table that serve every row, by their first column; a GIN index by all. */
export async function readIndexes(db: Transaction, relation: number): Promise<CatalogIndex[]> {
  const { rows } = await db.query<CatalogIndex>(
    `select a.attname as column, coalesce(k.collname in ('C', 'POSIX') or k.collname = 'default'
          and (select datcollate in ('C', 'POSIX') from pg_database where datname = current_database()), false)
        as "isByCodePoint", m.amname = 'gin' as "isGin"
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
      join pg_attribute a on a.attrelid = i.indrelid
        and (a.attnum = i.indkey[0] or m.amname = 'gin' and a.attnum = any(i.indkey))
      left join pg_collation k on k.oid = i.indcollation[0]
      where i.indrelid = $1::oid and i.indisvalid and i.indpred is null`,
    [relation],
  );
  return rows;
}

/** The SQL names of the tables of all schemas, or of one; without partitions, and without what tools and extensions keep. */
export async function readTableNames(db: Transaction, schema?: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and c.relpersistence <> 't' and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'holdfast')
        and ($1::text is null or n.nspname = $1) and c.relname !~ 'migrations(_lock)?$'
        and not exists (
          select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1`,
    [schema ?? null],
  );
  return rows.map(({ name }) => name);
}

/** The tables whose names differ from these only by capitals, quotes or a schema that was left out, as SQL names. */
export async function readSimilarNames(db: Transaction, names: readonly string[]): Promise<string[]> {
  const bare = (name: string) => name.replaceAll('"', "").toLowerCase();
  const wanted = names.map(bare);
  const all = await readTableNames(db);
  return all.filter((name) => wanted.some((one) => bare(name) === one || bare(name).endsWith(`.${one}`)));
}

/** `to_regclass` of Postgres 15 fails at anything that is not a name of at most two parts. */
const isName = (text: string): boolean => NAME.test(text);
const PART = String.raw`\s*(?:"(?:[^"\0]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)\s*`;
const NAME = new RegExp(`^${PART}(?:\\.${PART})?$`, "u");

type Constraints = Pick<CatalogTable, "primaryKey" | "keyConstraint" | "foreignKeys" | "checks">;
type Relation = Omit<CatalogTable, "columns" | keyof Constraints>;

const SQL_NAME = (relation: string) =>
  `(select format('%I.%I', s.nspname, r.relname) from pg_class r join pg_namespace s on s.oid = r.relnamespace
    where r.oid = ${relation})`;

/** A name with its schema is looked for in the catalog itself: `to_regclass` fails without a right on that schema. */
async function readRelations(db: Transaction, names: readonly string[]): Promise<Relation[]> {
  const { rows } = await db.query<Relation>(
    `select asked.name as asked, c.oid::bigint as relation, n.nspname as schema, c.relname as name,
        format('%I.%I', n.nspname, c.relname) as "sqlName",
        case c.relkind when 'r' then 'table' when 'p' then 'partitioned' when 'v' then 'view'
          when 'm' then 'materialized view' else 'foreign' end as kind,
        case c.relpersistence when 'p' then 'permanent' when 'u' then 'unlogged' else 'temporary' end as persistence,
        case when not c.relrowsecurity then 'off' when c.relforcerowsecurity then 'forced' else 'on' end as "rowSecurity",
        (select ${SQL_NAME("i.inhparent")} from pg_inherits i where i.inhrelid = c.oid and c.relispartition)
          as "partitionOf",
        array(select ${SQL_NAME("i.inhparent")} from pg_inherits i
          where i.inhrelid = c.oid and not c.relispartition order by i.inhseqno) as parents,
        array(select ${SQL_NAME("i.inhrelid")} from pg_inherits i
          where i.inhparent = c.oid and c.relkind <> 'p' order by i.inhrelid) as children
      from unnest($1::text[]) with ordinality as asked(name, place)
      cross join lateral (select parse_ident(asked.name) as parts) p
      join pg_class c on c.oid = case when p.parts[2] is null then to_regclass(asked.name)
          else (select r.oid from pg_class r join pg_namespace s on s.oid = r.relnamespace
            where s.nspname = p.parts[1]::name and r.relname = p.parts[2]::name) end
        and c.relkind in ('r', 'p', 'v', 'm', 'f')
      join pg_namespace n on n.oid = c.relnamespace
      order by asked.place`,
    [names],
  );
  return rows;
}

/** By relation. A domain is followed down to its base type, and an array to its elements, whose type may be a domain again. */
async function readColumns(db: Transaction, relations: readonly number[]): Promise<Map<number, CatalogColumn[]>> {
  const { rows } = await db.query<CatalogColumn & { readonly relation: number }>(
    `with recursive chain (relation, num, type, typmod, "isElement", depth) as (
        select a.attrelid, a.attnum, a.atttypid, a.atttypmod, false, 0 from pg_attribute a
          where a.attrelid = any($1::oid[]) and a.attnum > 0 and not a.attisdropped
        union all
        select c.relation, c.num, case t.typtype when 'd' then t.typbasetype else t.typelem end,
            case t.typtype when 'd' then t.typtypmod else c.typmod end, c."isElement" or t.typtype <> 'd', c.depth + 1
          from chain c join pg_type t on t.oid = c.type
          where t.typtype = 'd' or t.typsubscript = 'pg_catalog.array_subscript_handler'::regproc
      ), base as (
        select distinct on (c.relation, c.num) c.*, t.typname, t.typtype
          from chain c join pg_type t on t.oid = c.type order by c.relation, c.num, c.depth desc
      )
      select a.attrelid::bigint as relation, a.attname as name, b.typname as type, b."isElement" as "isArray",
        case when b.typname in ('bpchar', 'varchar') and b.typmod > 4 then b.typmod - 4 end as length,
        case b.typtype when 'e' then
          array(select e.enumlabel::text from pg_enum e where e.enumtypid = b.type order by e.enumsortorder) end as labels,
        b.typtype = 'c' or exists(select from pg_cast k where k.castsource = b.type and k.casttarget = 'json'::regtype
          and k.castmethod = 'f') as "isObject",
        exists (select from pg_collation l where l.oid = a.attcollation and not l.collisdeterministic) as "isLoose",
        a.attnotnull or coalesce(d."notNull", false) as "notNull",
        case a.attgenerated when '' then
          coalesce(pg_get_expr(f.adbin, f.adrelid), pg_get_expr(t.typdefaultbin, 0)) end as default,
        case a.attidentity when 'a' then 'always' when 'd' then 'by default' end as identity,
        case a.attgenerated when 's' then 'stored' when 'v' then 'virtual' end as generated,
        array(select pg_get_constraintdef(k.oid) from chain c join pg_constraint k on k.contypid = c.type
          where c.relation = a.attrelid and c.num = a.attnum and not c."isElement" and k.contype = 'c'
          order by k.conname) as "domainChecks"
      from base b
      join pg_attribute a on a.attrelid = b.relation and a.attnum = b.num
      join pg_type t on t.oid = a.atttypid
      left join pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
      left join lateral (select bool_or(u.typnotnull) as "notNull" from chain c join pg_type u on u.oid = c.type
        where c.relation = a.attrelid and c.num = a.attnum and not c."isElement") d on true
      order by a.attrelid, a.attnum`,
    [relations],
  );
  const byRelation = new Map<number, CatalogColumn[]>(relations.map((relation) => [relation, []]));
  for (const { relation, ...column } of rows) byRelation.get(relation)?.push(column);
  return byRelation;
}

interface Constraint {
  readonly relation: number;
  readonly kind: "p" | "f" | "c";
  readonly name: string;
  readonly columns: readonly string[];
  readonly definition: string;
  readonly otherTable: string | null;
  readonly otherColumns: readonly string[];
}

/** A foreign key to a partitioned table has a copy for each partition, with the foreign key itself as its parent. */
async function readConstraints(db: Transaction, relations: readonly number[]): Promise<Constraint[]> {
  const { rows } = await db.query<Constraint>(
    `select c.conrelid::bigint as relation, c.contype as kind, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as definition,
        array(select a.attname::text from unnest(c.conkey) with ordinality as k(num, place)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num order by k.place) as columns,
        ${SQL_NAME("c.confrelid")} as "otherTable",
        array(select a.attname::text from unnest(c.confkey) with ordinality as k(num, place)
          join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.num order by k.place) as "otherColumns"
      from pg_constraint c
      where c.conrelid = any($1::oid[]) and c.contype in ('p', 'f', 'c') and (c.contype <> 'f' or c.conparentid = 0)
      order by c.conrelid, c.conname`,
    [relations],
  );
  return rows;
}

const constraintsOf = (all: readonly Constraint[]): Constraints => ({
  primaryKey: all.find(({ kind }) => kind === "p")?.columns ?? [],
  keyConstraint: all.find(({ kind }) => kind === "p") ?? null,
  foreignKeys: all.flatMap(({ kind, columns, otherTable, otherColumns }): CatalogForeignKey[] => {
    const [[column, second], [otherColumn]] = [columns, otherColumns];
    if (kind !== "f" || column === undefined || second !== undefined) return [];
    return [{ column, table: otherTable ?? "", otherColumn: otherColumn ?? "" }];
  }),
  checks: all.flatMap(({ kind, columns, definition }): CatalogCheck[] =>
    kind === "c" ? [{ columns, definition }] : [],
  ),
});
