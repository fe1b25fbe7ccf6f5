import { useCallback, useContext } from "react";
import type { IsEqual } from "../equal.ts";
import { type Seed, SeedContext } from "../hydration/hydration.ts";
import { stillClient } from "../hydration/inert-client.ts";
import type { AnyClient } from "../model-of.ts";
import { useClient } from "./use-client.ts";
import { useSource } from "./use-source.ts";

/** Reads from the client. `read` must keep its identity as long as it reads the same; `select` may be inline. */
export function useSelect<Answer, T = Answer>(
  read: (client: AnyClient, seed: Seed | undefined) => Answer,
  select?: (answer: Answer) => T,
  isEqual?: IsEqual<T>,
): T {
  const client = useClient();
  const seed = useContext(SeedContext);
  const ask = useCallback(() => read(client, seed), [client, seed, read]);
  const askFirst = useCallback(() => read(stillClient, seed), [seed, read]);
  return useSource(client.subscribe, ask, askFirst, select, isEqual);
}
