import type { JsonObject, PendingExport } from "@holdfast/sdk";
import { useEffect, useState } from "react";
import { useClient } from "../hooks/use-client.ts";

export type Bases = ReadonlyMap<string, readonly (JsonObject | null)[]>;

/** The base values of each write, which only an export contains. Exported again when the writes change. */
export function useBases(writes: readonly unknown[]): Bases {
  const client = useClient();
  const [bases, setBases] = useState<Bases>(new Map());
  useEffect(() => {
    let isCurrent = writes.length > 0;
    if (isCurrent)
      client.exportPending().then(
        (exported) => isCurrent && setBases(basesIn(exported)),
        // A closed client rejects; the writes are shown without base values.
        () => {},
      );
    return () => {
      isCurrent = false;
    };
  }, [client, writes]);
  return bases;
}

const basesIn = ({ writes }: PendingExport): Bases =>
  new Map(writes.map(({ clientTxId, operations }) => [clientTxId, operations.map(({ base }) => base)]));
