import { type ModelSchema, ownValue } from "@holdfast/sdk/protocol";
import type { SchemaChange } from "../../rules/schema/declared-model.ts";
import type { Statement } from "../connection/statement.ts";
import type { Transaction } from "../connection/transaction.ts";

export interface StoredSchema extends ModelSchema {
  readonly version: number;
  readonly hash: string;
  /** By lower-case name, including models that are hidden now. */
  readonly changes: Readonly<Record<string, readonly SchemaChange[]>>;
  readonly hiddenModels: readonly string[];
  readonly rowsVersion: number;
}

/** The schema changes of a model. Its name may equal an object method's, hence `hasOwn`. */
export const changesOf = ({ changes }: StoredSchema, key: string): readonly SchemaChange[] =>
  ownValue(changes, key) ?? [];

type SchemaBody = Omit<StoredSchema, "version" | "hash">;
/** Fields that are omitted from the body of a schema that has never hidden anything. */
const UNCHANGED = { changes: {}, hiddenModels: [], rowsVersion: 0 };

/** The models of a tenant at one version. Undefined before the first push. */
export const loadSchema = (tenant: number, version: number): Statement<StoredSchema | undefined> => ({
  name: "load_schema",
  text: "select hash, body from holdfast.model_schema where tenant = $1 and version = $2",
  values: [tenant, version],
  read: ([row]) =>
    row && { version, hash: row.hash as string, ...UNCHANGED, ...(JSON.parse(row.body as string) as SchemaBody) },
});

export async function readSchema(db: Transaction, tenant: number, version: number): Promise<StoredSchema | undefined> {
  const { text, values, name, read } = loadSchema(tenant, version);
  const { rows, command } = await db.query({ name, text, values: [...values] });
  return read(rows, command);
}

export async function insertSchema(
  tx: Transaction,
  tenant: number,
  { version, hash, ...body }: StoredSchema,
): Promise<void> {
  await tx.query("insert into holdfast.model_schema (tenant, version, hash, body) values ($1, $2, $3, $4)", [
    tenant,
    version,
    hash,
    JSON.stringify(body satisfies SchemaBody),
  ]);
  await tx.query("update holdfast.head set schema_version = $2 where tenant = $1", [tenant, version]);
}
