import { serverLimits } from "@holdfast/sdk/protocol";
import { hasHead } from "../../db/commits/heads.ts";
import { openPipe } from "../../db/connection/pipe.ts";
import type { Database } from "../../db/connection/pool.ts";
import { findSecretKeys, listOrganizations, tenantOf } from "../../db/organizations/organizations.ts";
import { type ListedTable, listAttachments } from "../../db/tables/attachments.ts";
import { readCatalog, readTableNames } from "../../db/tables/catalog.ts";
import { type DerivedTable, deriveModels } from "../../rules/tables/derive-models.ts";
import { tokenPrefixes } from "../../rules/tokens/token.ts";
import { createSchemaCache } from "../schema/schema-cache.ts";
import { ensureConfiguredKey } from "../tokens/ensure-configured-key.ts";
import { tokenHash } from "../tokens/secret-keys.ts";
import { type AttachOptions, attachTable, TableError } from "./attach-table.ts";
import { type DetachOptions, detachTable } from "./detach-table.ts";
import { type Verified, type VerifyOptions, verifyTable } from "./verify-table.ts";

/** A tenant as the command line names it. */
export interface TenantChoice {
  /** Undefined: the only organization. */
  readonly organization: string | undefined;
  readonly livemode: boolean;
}

/** What `holdfast tables` does, straight on the database. */
export interface TableTools {
  list(): Promise<readonly ListedTable[]>;
  /** The SQL names of the caller's tables, without those in which tools keep their migrations. */
  names(schema?: string): Promise<readonly string[]>;
  /** The tenant of a secret key; undefined in a database without a service. A service that lacks the key is an error. */
  tenantOf(secretKey: string): Promise<TenantChoice | undefined>;
  /** Creates the first organization, with this key. */
  create(secretKey: string): Promise<TenantChoice>;
  /** Derives models from tables. `modelNames`: by table as it was given. */
  inspect(names: readonly string[], modelNames?: ReadonlyMap<string, string>): Promise<readonly DerivedTable[]>;
  attach(
    tenant: TenantChoice,
    derived: Extract<DerivedTable, { model: unknown }>,
    options: AttachOptions,
  ): Promise<{ rows: number }>;
  verify(tenant: TenantChoice, model: string, options: VerifyOptions): Promise<Verified>;
  detach(tenant: TenantChoice, model: string, options: DetachOptions): Promise<void>;
}

export function openTableTools(pool: Database, url: string): TableTools {
  const numberOf = async ({ organization, livemode }: TenantChoice): Promise<number> => {
    const all = await listOrganizations(pool);
    const found = organization === undefined && all.length === 1 ? all[0] : all.find(({ id }) => id === organization);
    const tenant = found && (await tenantOf(pool, found.id, livemode));
    if (tenant !== undefined && (await hasHead(pool, tenant))) return tenant;
    if (tenant !== undefined)
      throw new TableError("The tenant lives in a database of its own: set DATABASE_URL to that one.");
    throw new TableError(
      organization === undefined
        ? `There are ${all.length} organizations: choose one with --org.`
        : `The organization ${organization} does not exist.`,
    );
  };
  return {
    list: () => listAttachments(pool),
    names: (schema) => readTableNames(pool, schema),
    async tenantOf(secretKey) {
      const known = (await findSecretKeys(pool, [tokenHash(secretKey)])).get(0);
      if (known) return known.principal;
      if ((await listOrganizations(pool)).length === 0) return undefined;
      throw new TableError(
        "This database belongs to a Holdfast service already: set HOLDFAST_SECRET_KEY to one of its keys.",
      );
    },
    async create(secretKey) {
      const { organization } = await ensureConfiguredKey(pool, secretKey);
      return { organization, livemode: secretKey.startsWith(tokenPrefixes.live) };
    },
    async inspect(names, modelNames = new Map()) {
      const { tables, unknown } = await readCatalog(pool, names);
      if (unknown.length > 0) throw new TableError(`This database has no table ${unknown.join(", ")}.`);
      return deriveModels(tables, { modelNames });
    },
    attach: async (choice, { table, modelName, model, columns, keyColumn }, options) =>
      attachTable(
        pool,
        {
          tenant: await numberOf(choice),
          ...{ relation: table.relation, name: table.sqlName, modelName, model, columns, keyColumn },
        },
        options,
      ),
    verify: async (choice, model, options) => verifyTable(pool, await numberOf(choice), model, options),
    async detach(choice, model, options) {
      const tenant = await numberOf(choice);
      const pipe = await openPipe(url, { lockTimeoutMs: 5_000 });
      try {
        const { recordBytes, commitBytes } = serverLimits;
        const rules = { schemas: createSchemaCache(), recordBytes, commitBytes, roundBytes: commitBytes };
        await detachTable(pool, { pipe, rules }, tenant, model, options);
      } finally {
        await pipe.close();
      }
    },
  };
}
