import type { RowWrite } from "../rules/row-writes.ts";
import { identifier } from "./row-text.ts";

/**
 * The statement that writes several rows of a table in one way: $1 has their values as JSON, $2 their ids, and $3 is
 * returned with each row, beside its key and what the table made of it. It does what `holdfast.write_statement` does for
 * one row, with the columns as they were loaded.
 */
export function writeStatement({ table, action, values }: Pick<RowWrite, "table" | "action" | "values">): string {
  const { sqlName, keyColumn, keyType, columns } = table;
  const key = `t.${identifier(keyColumn)}`;
  const written = Object.keys(values);
  const names = written.map(identifier);
  const typed = written.map((name) => {
    const type = name === keyColumn ? keyType : columns.find((column) => column.name === name)?.sqlType;
    return `${identifier(name)} ${type ?? "text"}`;
  });
  const images = `json_to_record(w.image::json) as r(${typed.join(", ")})`;
  const returned = `returning ${key}::text as key, row_to_json(t.*) as image`;
  const byAction: Readonly<Record<RowWrite["action"], () => string>> = {
    insert: () => `insert into ${sqlName} as t (${names.join(", ")})
      select ${names.map((name) => `r.${name}`).join(", ")} from unnest($1) with ordinality as w(image, n), ${images}
      order by w.n ${returned}`,
    update: () => `update ${sqlName} t set ${names.map((name) => `${name} = r.${name}`).join(", ")}
      from unnest($1, $2) as w(image, id), ${images} where ${key} = w.id::${keyType} ${returned}`,
    delete: () => `delete from ${sqlName} t using unnest($2) as w(id) where ${key} = w.id::${keyType}
      returning ${key}::text as key, null::json as image`,
  };
  return `with done as (${byAction[action]()}) select key, image::text, $3 from done where key = any($2)`;
}
