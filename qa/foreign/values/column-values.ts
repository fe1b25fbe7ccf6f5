import type { SeededRandom } from "../../support/seeded-random.ts";

/** The table that is attached, and another one of the same columns, on which the same statements are tried. */
export const TABLES_SQL = `
create type public.mood as enum ('good', 'bad');
create function public.mood_json(mood) returns json language plpgsql as $$
  begin if $1 = 'bad' then raise exception 'no JSON of this mood'; end if; return to_json($1::text); end $$;
create cast (mood as json) with function mood_json(mood);
create domain public.short_text as text check (length(value) < 2000000000);
create table public.papers (
  id text primary key, title text, body text, note short_text, doc jsonb, raw json, bin bytea, tags text[], digits numeric[],
  amount numeric, ratio double precision, at timestamptz, day date, stamp timestamp, feeling mood, feelings mood[]
);
create table public.papers_of_nobody (like public.papers including all);
insert into public.papers (id, title, body) select 's' || n, 'Small ' || n, 'Text' from generate_series(1, 50) n;`;

/** How large the values may be. */
export interface Scale {
  readonly mebibytes: readonly number[];
  /** Once in a hundred values. */
  readonly seldomMebibytes?: number;
}

export const LARGE: Scale = { mebibytes: [1, 1, 15, 17, 60, 200], seldomMebibytes: 520 };

const MIB = 2 ** 20;

type Make = (chance: SeededRandom, bytes: number) => string;

/** By column: expressions of SQL. */
const VALUES: Readonly<Record<string, readonly Make[]>> = {
  title: [
    () => "''",
    () => "chr(8238) || chr(65534) || chr(1)",
    (_, bytes) => `repeat('t', ${Math.min(bytes, 15 * MIB)})`,
    () => "'__proto__'",
  ],
  body: [
    (_, bytes) => `repeat('x', ${bytes})`,
    (_, bytes) => `repeat(chr(1), ${Math.ceil(bytes / 6)})`,
    (_, bytes) => `repeat(chr(128169), ${Math.ceil(bytes / 4)})`,
    // No compression makes it smaller.
    (_, bytes) => `(select string_agg(md5(n::text), '') from generate_series(1, ${Math.min(bytes, 17 * MIB) / 32}) n)`,
  ],
  note: [(_, bytes) => `repeat('"', ${Math.ceil(bytes / 2)})`],
  doc: [
    (_, bytes) => `to_jsonb(repeat('x', ${bytes}))`,
    (_, bytes) => `(select jsonb_agg(n) from generate_series(1, ${Math.ceil(Math.min(bytes, 17 * MIB) / 16)}) n)`,
    (_, bytes) =>
      `(select jsonb_object_agg('k' || n, '{}'::jsonb) from generate_series(1, ${Math.ceil(bytes / 200)}) n)`,
    (_, bytes) => `(select jsonb_agg(1e131071::numeric) from generate_series(1, ${Math.ceil(bytes / 131_072)}))`,
    (chance) => `${nested(chance, "[", "]")}::jsonb`,
    (chance) => `${nested(chance, '{"a":', "}", "1")}::jsonb`,
    () => `'{"__proto__":{"a":1},"constructor":null,"":0}'::jsonb`,
  ],
  raw: [
    () => String.raw`'{"a":"\u0000","b":"\ud800","c":"\udc00\ud800"}'::json`,
    () => `'{"a":1,"a":2,"a":{"a":1,"a":2}}'::json`,
    () => `'[1e400,-1e400,1e-400,1e131071,-0,9007199254740993]'::json`,
    (chance) => `${nested(chance, "[", "]")}::json`,
    (_, bytes) => `(repeat(' ', ${bytes}) || '1')::json`,
    (_, bytes) => `('["' || repeat(${String.raw`'\u0000'`}, ${Math.ceil(bytes / 6)}) || '"]')::json`,
    (_, bytes) => `('[' || repeat('[],', ${Math.ceil(bytes / 3)}) || '1]')::json`,
  ],
  bin: [(_, bytes) => `convert_to(repeat('x', ${bytes}), 'UTF8')`],
  tags: [
    (_, bytes) => `array_fill('x'::text, array[${Math.ceil(Math.min(bytes, 60 * MIB) / 8)}])`,
    () => "array_fill('x'::text, array[30, 30, 30])",
    () => "'[5:7]={a,b,NULL}'::text[]",
  ],
  digits: [
    (_, bytes) => `array_fill(1e131071::numeric, array[${Math.ceil(bytes / 131_072)}])`,
    () => "'{NaN,Infinity,-Infinity,1e-16383}'::numeric[]",
  ],
  amount: ["'NaN'", "'Infinity'", "1e131071", "1e-16383", "-0.00"].map((one) => () => `${one}::numeric`),
  ratio: ["'NaN'", "'-Infinity'", "'-0'", "1.7976931348623157e308", "5e-324"].map((one) => () => `${one}::float8`),
  at: ["infinity", "-infinity", "4713-01-01 00:00:00+00 BC", "294276-12-31 00:00:00+00", "10000-01-01", "epoch"].map(
    (one) => () => `'${one}'::timestamptz`,
  ),
  day: ["infinity", "-infinity", "4714-11-24 BC", "5874897-12-31"].map((one) => () => `'${one}'::date`),
  stamp: ["infinity", "4714-11-24 00:00:00 BC", "294276-12-31"].map((one) => () => `'${one}'::timestamp`),
  feeling: [() => "'bad'::mood", () => "'good'::mood"],
  feelings: [() => "'{good,bad}'::mood[]"],
};

export const COLUMNS: readonly string[] = Object.keys(VALUES);

/** Postgres itself ends at some depth. */
const DEPTHS = [60, 501, 5_000, 6_000, 50_000];

function nested(chance: SeededRandom, open: string, close: string, inmost = ""): string {
  const depth = chance.oneOf(DEPTHS);
  return `(repeat('${open}', ${depth}) || '${inmost}' || repeat('${close}', ${depth}))`;
}

/** One to three columns with such values. */
export function oddValues(chance: SeededRandom, { mebibytes, seldomMebibytes }: Scale): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let left = 1 + chance.below(3); left > 0; left--) {
    const column = chance.oneOf(COLUMNS);
    const seldom = seldomMebibytes !== undefined && left === 1 && chance.percent(1) ? seldomMebibytes : undefined;
    values.set(column, chance.oneOf(VALUES[column] ?? [])(chance, (seldom ?? chance.oneOf(mebibytes)) * MIB));
  }
  return values;
}

/** Keys that the interface can hardly name. */
const ODD_KEYS = ["''", "'a b'", "'a/b'", "'..'", "chr(128169)", "'%'", "repeat('k', 512)", "repeat('k', 700)"];

export const oddKey = (chance: SeededRandom): string => chance.oneOf(ODD_KEYS);
