import type { Metrics } from "../../edge/metrics/prometheus.ts";
import type { Database } from "../../kernel/connection/pool.ts";
import { type ListedTable, listTables } from "./flows/list-tables.ts";

/** Read from the database, so these cover all processes together. */
export function measureTables({ gauge }: Metrics, pool: Database): void {
  let asking: Promise<readonly ListedTable[]> | undefined;
  const tables = () => {
    asking ??= listTables(pool).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const sumOf = async (name: "waiting" | "waitingBytes") =>
    (await tables()).reduce((sum, table) => sum + table[name], 0);
  gauge(
    "holdfast_attached_tables",
    "Attached tables, by status; broken: the table does not match its model.",
    async () => {
      const found = await tables();
      const countOf = (status: ListedTable["status"]) => found.filter((table) => table.status === status).length;
      return (["attached", "detaching", "broken"] as const).map((status) => [countOf(status), { status }] as const);
    },
  );
  gauge(
    "holdfast_captured_changes",
    "Changes by SQL that are not in the log yet; up to 100 000 are counted for each table.",
    () => sumOf("waiting"),
  );
  gauge("holdfast_captured_bytes", "Bytes of the rows of changes by SQL that are not in the log yet.", () =>
    sumOf("waitingBytes"),
  );
  gauge("holdfast_captured_age_seconds", "Age of the oldest change by SQL that is not in the log yet.", async () => {
    const since = (await tables()).flatMap(({ waitingSince }) => waitingSince ?? []);
    return Math.max(0, ...since.map((at) => (Date.now() - Date.parse(at)) / 1_000));
  });
}
