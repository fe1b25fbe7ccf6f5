import type pg from "pg";

/** Runs a statement, and says what it took: the plan, and how many blocks it read. */
export async function readPlan(client: pg.Client, { text, values }: { text: string; values: unknown[] }) {
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const [{ Plan: plan }] = JSON.parse(rows[0]?.["QUERY PLAN"] ?? "[]") as [{ Plan: Record<string, number> }];
  return { plan, blocks: (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0) };
}
