import { fileURLToPath } from "node:url";
import type { DatasourceHandlerOptions } from "@holdfast/sdk/datasource";
import type { ModelSchema } from "@holdfast/sdk/protocol";
import { openStore, type Tables } from "../../examples/mariadb-datasource/src/store.ts";
import type { Kind } from "../../examples/mariadb-datasource/src/values.ts";
import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";
import { missingMariadb, startMariadb } from "../support/mariadb.ts";
import type { EndpointRecords, SourceRow } from "./endpoint.ts";

const { models } = referenceSchema;

/** In a MariaDB of their own, by the store of examples/mariadb-datasource. */
export async function mariadbRecords(): Promise<EndpointRecords> {
  const missing = missingMariadb();
  if (missing !== undefined) throw new Error(missing);
  const mariadb = await startMariadb();
  return {
    program: fileURLToPath(new URL("mariadb-service.ts", import.meta.url)),
    env: { MARIADB_URL: mariadb.url },
    async read() {
      const store = await openRecords(mariadb.url);
      const rows: SourceRow[] = [];
      for (const model of Object.keys(models))
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await store.list(model, { cursor: cursor ?? null, limit: 1_000 });
          rows.push(...page.records.map((record) => ({ model, ...record })));
          cursor = page.cursor;
        }
      await store.close();
      return rows;
    },
    async stop() {
      await mariadb[Symbol.asyncDispose]();
    },
  };
}

type Store = Pick<DatasourceHandlerOptions, "commit" | "load" | "list" | "events"> & { close(): Promise<void> };

/** All models of the reference schema, each in a table. A column that is null is a field that the record does not have. */
export async function openRecords(url: string): Promise<Store> {
  const tables: Tables = Object.fromEntries(
    Object.entries(models).map(([model, { fields }]) => {
      const columns = Object.entries(fields).map(([name, field]) => [name, { name, kind: kindOf(field) }]);
      return [model, { name: `record_${model}`, columns: Object.fromEntries(columns) }];
    }),
  );
  const schema = Object.values(tables).map(({ name, columns }) => {
    const defined = Object.values(columns).map((column) => `, \`${column.name}\` ${TYPES[column.kind]}`);
    return `create table if not exists ${name} (id varchar(255) primary key${defined.join("")})
      engine = innodb, collate = utf8mb4_nopad_bin`;
  });
  const store = await openStore(url, schema, tables);
  const shown = (model: string, data: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(data).filter(([field, value]) => value !== null || models[model]?.fields[field]?.nullable),
    );
  return {
    ...store,
    commit: async (commit) =>
      (await store.commit(commit)).map((one) => ({ ...one, data: one.data && shown(one.model, one.data) })),
    load: async (model, ids) =>
      (await store.load(model, ids)).map(({ id, data }) => ({ id, data: shown(model, data) })),
    async list(model, page) {
      const { records, cursor } = await store.list(model, page);
      return { records: records.map(({ id, data }) => ({ id, data: shown(model, data) })), cursor };
    },
  };
}

const TYPES: Readonly<Record<Kind, string>> = {
  ...{ text: "longtext", number: "double", boolean: "boolean", datetime: "datetime(3)", json: "json" },
};

type Field = ModelSchema["models"][string]["fields"][string];

function kindOf({ type }: Field): Kind {
  switch (type) {
    case "string":
    case "enum":
      return "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
    case "datetime":
      return type;
    case "json":
    case "array":
      return "json";
  }
}
