import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "libsql";
import type { EndpointRecords, SourceRow } from "./endpoint.ts";

/** In a file in this folder. */
export function sqliteRecords(folder: string): EndpointRecords {
  const file = join(folder, "records.db");
  return {
    program: fileURLToPath(new URL("record-service.ts", import.meta.url)),
    env: { RECORDS_FILE: file },
    async read() {
      const db = new Database(file);
      const rows = db.prepare("select model, id, data from record").all() as (Omit<SourceRow, "data"> & {
        data: string;
      })[];
      db.close();
      return rows.map(({ model, id, data }) => ({ model, id, data: JSON.parse(data) as object }));
    },
    stop: async () => {},
  };
}
