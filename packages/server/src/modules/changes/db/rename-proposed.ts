import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { FieldRenames } from "../../../kernel/schema/flows/push-schema.ts";
import type { StoredOperation } from "../rules/proposal.ts";

/** Open proposals have the names of the schema at present. */
export async function renameProposed(tx: Transaction, tenant: number, renames: FieldRenames): Promise<void> {
  for (const [model, names] of renames) {
    const { rows } = await tx.query<{ id: string; operations: string }>(
      `select p.id, p.operations from holdfast.proposal p where p.tenant = $1 and p.status = 'open'
         and exists (select from holdfast.proposed_record r where r.tenant = p.tenant and r.proposal = p.id and r.model = $2) for update`,
      [tenant, model],
    );
    for (const { id, operations } of rows)
      await tx.query("update holdfast.proposal set operations = $3 where tenant = $1 and id = $2", [
        ...[tenant, id],
        JSON.stringify(renamed(JSON.parse(operations) as readonly StoredOperation[], model, names)),
      ]);
  }
}

const renamed = (
  operations: readonly StoredOperation[],
  model: string,
  names: Readonly<Record<string, string>>,
): readonly StoredOperation[] =>
  operations.map((operation) =>
    operation.model === model
      ? {
          ...operation,
          ...keysRenamed("data", operation.data, names),
          ...keysRenamed("changes", operation.changes, names),
          ...keysRenamed("base", operation.base, names),
        }
      : operation,
  );

const keysRenamed = <T>(
  key: string,
  values: Readonly<Record<string, T>> | undefined,
  names: Readonly<Record<string, string>>,
): object =>
  values
    ? { [key]: Object.fromEntries(Object.entries(values).map(([name, value]) => [names[name] ?? name, value])) }
    : {};
