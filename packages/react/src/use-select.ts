import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { useCallback } from "react";
import type { IsEqual } from "./equal.ts";
import { useClient } from "./use-client.ts";
import { useSource } from "./use-source.ts";

/** Asks the client. `read` has to keep its identity while it asks the same question; `select` may be written inline. */
export function useSelect<Answer, T = Answer>(
  read: (client: SyncClient<ModelSchema>) => Answer,
  select?: (answer: Answer) => T,
  isEqual?: IsEqual<T>,
): T {
  const client = useClient();
  const ask = useCallback(() => read(client), [client, read]);
  return useSource(client.subscribe, ask, select, isEqual);
}
