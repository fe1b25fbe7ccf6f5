import pg from "pg";
import { SeededRandom } from "../support/seeded-random.ts";
import { COLUMNS, oddKey, oddValues, type Scale } from "./values/column-values.ts";

export interface SqlWriter {
  readonly statements: number;
  /** Statements that Postgres refuses without us, too. */
  readonly refused: number;
  readonly violations: readonly string[];
  finish(): Promise<void>;
}

export interface SqlWriterPlan {
  readonly databaseUrl: string;
  readonly seed: number;
  readonly scale: Scale;
  phase(): Phase;
}

/** "beside": the same statements are written to a table that is not attached. So Postgres has the same work, and we have none. */
export type Phase = "rest" | "quiet" | "beside" | "odd";

/** Rows with odd values: few, so that the disk has room for them. */
export const ODD_ROWS = 12;
const PAUSE_MS = 50;

type Act = (chance: SeededRandom, scale: Scale) => string;

const upsert = (key: string, values: ReadonlyMap<string, string>): string => {
  const columns = [...values.keys()];
  return `insert into TABLE (id, ${columns.join(", ")}) values (${[key, ...values.values()].join(", ")})
    on conflict (id) do update set ${columns.map((one) => `${one} = excluded.${one}`).join(", ")}`;
};
const anOddRow = (chance: SeededRandom) => `'h${chance.below(ODD_ROWS)}'`;
const cleared = COLUMNS.map((one) => `${one} = null`).join(", ");

const ACTS: Readonly<Record<string, Act>> = {
  row: (chance, scale) => upsert(anOddRow(chance), oddValues(chance, scale)),
  manyRows: (chance) =>
    `insert into TABLE (id, title, body) select 'm' || n, 'Many', repeat('y', ${chance.oneOf([10, 10_000, 300_000])})
      from generate_series(1, ${chance.oneOf([50, 200])}) n on conflict (id) do update set body = excluded.body || 'z'`,
  manyColumns: (chance, scale) =>
    upsert(anOddRow(chance), new Map([1, 2, 3].flatMap(() => [...oddValues(chance, scale)]))),
  // Of such a row, the change of a title has both states.
  touch: () => "update TABLE set title = left(coalesce(title, ''), 20) || 'x' where id like 'h%'",
  small: (chance) =>
    `update TABLE set title = 'Small ' || ${chance.below(1_000)} where id = 's${1 + chance.below(50)}'`,
  oddKey: (chance) => upsert(oddKey(chance), new Map([["title", "'Odd key'"]])),
  otherKey: (chance) =>
    `delete from TABLE where id = 'h${ODD_ROWS}'; update TABLE set id = 'h${ODD_ROWS}' where id = ${anOddRow(chance)}`,
  clear: (chance) => `update TABLE set ${cleared} where id = ${anOddRow(chance)}`,
  remove: (chance) => `delete from TABLE where id = ${anOddRow(chance)} or id not like 's%' and ${chance.below(4)} = 0`,
};
const WEIGHTS = {
  row: 8,
  manyColumns: 3,
  manyRows: 2,
  touch: 1,
  small: 8,
  oddKey: 2,
  otherKey: 1,
  clear: 2,
  remove: 3,
};

/**
 * Writes odd rows with plain SQL. A statement that fails is tried on a table that is not attached: if it succeeds there,
 * capturing made it fail.
 */
export async function startSqlWriter({ databaseUrl, seed, scale, phase }: SqlWriterPlan): Promise<SqlWriter> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that ends fails the statement under way, too.
  client.on("error", () => {});
  await client.connect();
  const chance = new SeededRandom(seed);
  const violations: string[] = [];
  let [statements, refused, isOver] = [0, 0, false];

  async function one(): Promise<void> {
    const acts = Array.from({ length: chance.oneOf([1, 1, 1, 4]) }, () => ACTS[chance.weighed(WEIGHTS)] as Act);
    const sql = acts.map((act) => act(chance, scale)).join(";\n");
    statements += acts.length;
    const failure = await attempt(sql, phase() === "odd" ? "public.papers" : "public.papers_of_nobody");
    if (failure === undefined) return;
    // Its own rows are of the phases before: they may be in the way of nothing.
    const without = await attempt(`begin;\ndelete from TABLE;\n${sql};\nrollback`, "public.papers_of_nobody");
    if (without === undefined) violations.push(`${failure}, only where the table is attached: ${sql.slice(0, 600)}`);
    else refused += acts.length;
  }

  async function attempt(sql: string, table: string): Promise<string | undefined> {
    try {
      await client.query(sql.replaceAll("TABLE", table));
      return undefined;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      return (error as Error).message.slice(0, 200);
    }
  }

  const running = (async () => {
    while (!isOver) {
      if (phase() === "odd" || phase() === "beside") await one();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    get statements() {
      return statements;
    },
    get refused() {
      return refused;
    },
    violations,
    async finish() {
      isOver = true;
      await running;
      await client.end();
    },
  };
}
