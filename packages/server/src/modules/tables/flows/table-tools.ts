import { serverLimits } from "@holdfast/sdk/protocol";
import { hasHead } from "../../../kernel/commits/db/heads.ts";
import { openPipe } from "../../../kernel/connection/pipe.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { ModuleHooks } from "../../../kernel/module-hooks.ts";
import { findSecretKeys, listOrganizations, tenantOf } from "../../../kernel/organizations/db/organizations.ts";
import { createSchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { ensureConfiguredKey } from "../../../kernel/tokens/flows/ensure-configured-key.ts";
import { tokenHash } from "../../../kernel/tokens/flows/secret-keys.ts";
import { tokenPrefixes } from "../../../kernel/tokens/rules/token.ts";
import { readAttachments, readTableRights } from "../db/attachments.ts";
import { readCatalog, readSimilarNames, readTableNames } from "../db/catalog.ts";
import { type DerivedTable, deriveModels } from "../rules/derive-models.ts";
import { deniedWrites, missingRights, type TableRights, type TableTask } from "../rules/table-rights.ts";
import { type AttachOptions, attachTable } from "./attach-table.ts";
import { type DetachOptions, detachTable } from "./detach-table.ts";
import { type EmitOptions, emitRows } from "./emit-rows.ts";
import { type ListedTable, listTables } from "./list-tables.ts";
import { inSentences } from "./require-rights.ts";
import { TableError } from "./table-error.ts";
import { type Verified, type VerifyOptions, verifyTable } from "./verify-table.ts";

/** A tenant as the command line names it. */
export interface TenantChoice {
  /** Undefined: the only organization. */
  readonly organization: string | undefined;
  readonly livemode: boolean;
}

/** What `holdfast tables` does, straight on the database. */
export interface TableTools {
  /** Which database it is, to begin a sentence with: `The database localhost:5432/app`. */
  readonly place: string;
  list(): Promise<readonly ListedTable[]>;
  /** The SQL names of the caller's tables, without those in which tools keep their migrations. */
  names(schema?: string): Promise<readonly string[]>;
  /** The tenant of a secret key; undefined in a database without a service. A service that lacks the key is an error. */
  tenantOf(secretKey: string): Promise<TenantChoice | undefined>;
  /** Creates the first organization, with this key. */
  create(secretKey: string): Promise<TenantChoice>;
  /** Derives models from tables. `modelNames`: by table as it was given. */
  inspect(names: readonly string[], modelNames?: ReadonlyMap<string, string>): Promise<readonly DerivedTable[]>;
  /** What our role lacks for a task with these tables, in sentences. */
  missingRights(derived: readonly DerivedTable[], task: TableTask): Promise<readonly string[]>;
  attach(
    tenant: TenantChoice,
    derived: Extract<DerivedTable, { model: unknown }>,
    options: AttachOptions,
  ): Promise<void>;
  emit(tenant: TenantChoice, model: string, options: EmitOptions): Promise<void>;
  verify(tenant: TenantChoice, model: string, options: VerifyOptions): Promise<Verified>;
  detach(tenant: TenantChoice, model: string, options: DetachOptions): Promise<void>;
}

export function openTableTools(pool: Database, hooks: ModuleHooks, url: string): TableTools {
  const { tokensEnded, inRounds: modules } = hooks;
  const place = placeOf(url);
  const numberOf = async ({ organization, livemode }: TenantChoice): Promise<number> => {
    const all = await listOrganizations(pool);
    const found = organization === undefined && all.length === 1 ? all[0] : all.find(({ id }) => id === organization);
    const tenant = found && (await tenantOf(pool, found.id, livemode));
    if (tenant !== undefined && (await hasHead(pool, tenant))) return tenant;
    if (tenant !== undefined)
      throw new TableError("The tenant has a database of its own: set DATABASE_URL to that database.");
    throw new TableError(
      organization === undefined
        ? `There are ${all.length} organizations: choose one with --org.`
        : `The organization ${organization} does not exist.`,
    );
  };
  const relationOf = async (choice: TenantChoice, model: string) => {
    const tenant = await numberOf(choice);
    const attached = await readAttachments(pool, tenant);
    return [tenant, attached.find((one) => one.model === model.toLowerCase())?.relation] as const;
  };
  return {
    place,
    list: () => listTables(pool),
    names: (schema) => readTableNames(pool, schema),
    async tenantOf(secretKey) {
      const known = (await findSecretKeys(pool, [tokenHash(secretKey)])).get(0);
      if (known) return known.principal;
      if ((await listOrganizations(pool)).length === 0) return undefined;
      throw new TableError(
        "This database already belongs to a Holdfast service: set HOLDFAST_SECRET_KEY to a key of that service.",
      );
    },
    async create(secretKey) {
      const { organization } = await ensureConfiguredKey(pool, tokensEnded, secretKey);
      return { organization, livemode: secretKey.startsWith(tokenPrefixes.live) };
    },
    async inspect(names, modelNames = new Map()) {
      const { tables, unknown } = await readCatalog(pool, names);
      if (unknown.length > 0)
        throw new TableError(unknownTables(place, unknown, await readSimilarNames(pool, unknown)));
      const derived: DerivedTable[] = [];
      for (const one of deriveModels(tables, { modelNames }))
        if ("problem" in one) derived.push(one);
        else {
          const denied = deniedWrites(await readTableRights(pool, one.table.relation));
          derived.push({ ...one, notes: [...one.notes, ...denied] });
        }
      return derived;
    },
    async missingRights(derived, task) {
      const rights: TableRights[] = [];
      for (const { table } of derived) rights.push(...(await readTableRights(pool, table.relation)));
      return missingRights(task, rights);
    },
    async attach(choice, { table, modelName, model, columns, keyColumn }, options) {
      const tenant = await numberOf(choice);
      const { relation, sqlName: name } = table;
      return inSentences(pool, "attach", relation, () =>
        attachTable(pool, hooks, { tenant, relation, name, modelName, model, columns, keyColumn }, options),
      );
    },
    async emit(choice, model, options) {
      const [tenant, relation] = await relationOf(choice, model);
      return inSentences(pool, "repair", relation, () => emitRows(pool, tenant, model, options));
    },
    async verify(choice, model, options) {
      const [tenant, relation] = await relationOf(choice, model);
      return inSentences(pool, options.repair ? "repair" : "verify", relation, () =>
        verifyTable(pool, tenant, model, options),
      );
    },
    async detach(choice, model, options) {
      const [tenant, relation] = await relationOf(choice, model);
      const pipe = await openPipe(url, { lockTimeoutMs: 5_000 });
      try {
        const { recordBytes, commitBytes } = serverLimits;
        const rules = { schemas: createSchemaCache(), modules, recordBytes, commitBytes, roundBytes: commitBytes };
        await inSentences(pool, "detach", relation, () =>
          detachTable(pool, hooks, { pipe, rules }, tenant, model, options),
        );
      } finally {
        await pipe.close();
      }
    },
  };
}

function unknownTables(place: string, unknown: readonly string[], similar: readonly string[]): string {
  const missing = `${place} has no table ${unknown.join(", ")}`;
  if (similar.length === 0) return `${missing}. Does DATABASE_URL name the database with your tables?`;
  const isQuoted = similar.some((name) => name.includes('"'));
  return `${missing}. It has ${similar.join(", ")}.${isQuoted ? ` Capitals need their quotes, in a shell: '${similar.join(",")}'` : ""}`;
}

/** Without user and password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return "The database";
  const { host, pathname } = new URL(url);
  return `The database ${decodeURIComponent(host)}${pathname}`;
}
