import type { CatalogColumn, CatalogTable } from "../modules/tables/rules/catalog-table.ts";

/** A column of text that can be null, unless told otherwise. */
export const column = (name: string, more: Partial<CatalogColumn> = {}): CatalogColumn => ({
  ...{ name, type: "text", isArray: false, length: null, labels: null, isObject: false, isLoose: false },
  ...{ notNull: false, default: null, identity: null, generated: null, domainChecks: [], ...more },
});

/** A table of these columns and the key `id`. */
export function table(name: string, columns: readonly CatalogColumn[], more: Partial<CatalogTable> = {}): CatalogTable {
  const sqlName = `public.${name}`;
  return {
    ...{ relation: 1, asked: sqlName, schema: "public", name, sqlName, kind: "table", persistence: "permanent" },
    ...{ rowSecurity: "off", partitionOf: null, parents: [], children: [], primaryKey: ["id"], foreignKeys: [] },
    keyConstraint: { name: `${name}_pkey`, definition: "PRIMARY KEY (id)" },
    ...{ checks: [], columns: [column("id", { notNull: true }), ...columns], ...more },
  };
}
