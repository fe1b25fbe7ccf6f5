import type { ErrorEnvelope, ModelSchema } from "@holdfast/sdk/protocol";
import { collectValues, dropValues, readDuplicates } from "../../commits/db/record-values.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { type DeclaredValue, type DeclaredValues, declaredValues } from "../rules/declared-values.ts";

type Problem = NonNullable<ErrorEnvelope["problems"]>[number];

/**
 * Collects the values of what a push declares newly, and of the models whose records it has changed; forgets those of
 * what it no longer declares. The push holds the head's lock, so no commit comes between this and the schema. Returns
 * the unique fields whose values several records have: these must not stay.
 */
export async function keepValues(
  tx: Transaction,
  tenant: number,
  before: ModelSchema,
  pushed: ModelSchema,
  changed: ReadonlySet<string>,
): Promise<Problem[]> {
  const [was, now] = [before, pushed].map(({ models }) => declaredValues(Object.entries(models))) as [
    DeclaredValues,
    DeclaredValues,
  ];
  const problems: Problem[] = [];
  for (const model of new Set([...was.byModel.keys(), ...now.byModel.keys()])) {
    const wanted = now.byModel.get(model) ?? [];
    const kept = changed.has(model)
      ? []
      : namesOf(was.byModel.get(model)).filter((name) => namesOf(wanted).includes(name));
    const dropped = namesOf(was.byModel.get(model)).filter((name) => !kept.includes(name));
    if (dropped.length > 0) await dropValues(tx, tenant, model, dropped);
    for (const declared of wanted.filter(({ name }) => !kept.includes(name)))
      problems.push(...(await collect(tx, tenant, pushed, { model, declared })));
  }
  return problems;
}

/** Collects all values of a tenant that has none yet. */
export async function collectAllValues(tx: Transaction, tenant: number, schema: ModelSchema): Promise<Problem[]> {
  return await keepValues(tx, tenant, { models: {} }, schema, new Set());
}

async function collect(
  tx: Transaction,
  tenant: number,
  { models }: ModelSchema,
  { model, declared }: { readonly model: string; readonly declared: DeclaredValue },
): Promise<Problem[]> {
  await collectValues(tx, tenant, model, declared);
  if (declared.kind === "reference") return [];
  const name = Object.keys(models).find((one) => one.toLowerCase() === model) ?? model;
  return (await readDuplicates(tx, tenant, model, declared.name)).map(({ ids, count }) => ({
    model: name,
    field: declared.field,
    problem: `${count} records have the same ${declared.fields.join(" and ")}: ${ids.join(", ")}${count > ids.length ? ", …" : ""}.`,
  }));
}

const namesOf = (declared: readonly DeclaredValue[] = []): readonly string[] => declared.map(({ name }) => name);
