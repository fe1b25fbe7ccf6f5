import type { ModelName, ModelSchema, RecordClaims } from "@holdfast/sdk";
import { useCallback, useEffect } from "react";
import type { AnyClient } from "./model-of.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSelect } from "./use-select.ts";

export type UseClaims<S extends ModelSchema> = (
  model: ModelName<S>,
  ids: readonly string[],
) => Readonly<Record<string, RecordClaims>>;

/** Who holds these records, by id: for badges on a list. The ids may be written inline. */
export const useClaims: UseClaims<ModelSchema> = (model, given) => {
  const client = useClient();
  const ids = useFirstOfEquals(given);
  useEffect(() => (ids.length > 0 ? client.claims.watch(model, ids) : undefined), [client, model, ids]);
  const read = useCallback(
    (asked: AnyClient) => Object.fromEntries(ids.map((id) => [id, asked.claims.of(model, id)])),
    [model, ids],
  );
  return useSelect(read);
};
