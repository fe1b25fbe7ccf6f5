import type { Transaction } from "../../db/connection/transaction.ts";
import type { RecordSource } from "../../db/lists/record-source.ts";
import { attachedSource } from "../../db/tables/attached-source.ts";
import { readAttachments } from "../../db/tables/attachments.ts";
import { WRITTEN_BY } from "../../rules/commits/captured-commit.ts";
import { READABLE_BYTES } from "../../rules/commits/unreadable-record.ts";
import type { DeclaredModel } from "../../rules/schema/declared-model.ts";
import { archivedOf } from "../../rules/tables/archived-column.ts";
import { isKeyOf } from "../../rules/tables/attached-key.ts";
import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import { formOf, takesType } from "../../rules/tables/sql-type.ts";
import type { LiveSchema } from "../schema/schema-cache.ts";

export const sourceOfTable = (table: AttachedTable): RecordSource =>
  attachedSource(table, { isKeyOf, takesType, formOf, archivedOf, readableBytes: READABLE_BYTES, madeBy: WRITTEN_BY });

/** Where the records of a model are. Undefined: Holdfast keeps them itself. */
export async function sourceOf(
  db: Transaction,
  tenant: number,
  { name, model }: DeclaredModel,
): Promise<RecordSource | undefined> {
  if (!model.table) return undefined;
  const attached = (await readAttachments(db, tenant)).find((one) => one.model === name.toLowerCase());
  return attached && sourceOfTable(attached);
}

/** The same of all models that have tables, by model. */
export async function sourcesOf(
  db: Transaction,
  tenant: number,
  schema: Pick<LiveSchema, "hasTables">,
): Promise<ReadonlyMap<string, RecordSource>> {
  return schema.hasTables ? attachedSources(db, tenant) : new Map();
}

export const attachedSources = async (db: Transaction, tenant: number): Promise<ReadonlyMap<string, RecordSource>> =>
  tableSources(await readAttachments(db, tenant));

export const tableSources = (attached: readonly AttachedTable[]): ReadonlyMap<string, RecordSource> =>
  new Map(attached.map((table) => [table.model, sourceOfTable(table)]));
