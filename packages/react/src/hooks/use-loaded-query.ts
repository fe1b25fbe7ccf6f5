import type { FollowedWhere, Include, ModelName, ModelSchema, NoInclude, Query } from "@holdfast/sdk";
import { useEffect, useMemo, useState } from "react";
import { stillClient } from "../hydration/inert-client.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";

/** A query that a component shows. */
export type ShownQuery<S extends ModelSchema, M extends ModelName<S>, I extends Include<S, M> = NoInclude> = Query<
  S,
  M,
  I
> & {
  /**
   * Loads the part of the query's own conditions, and what it includes (one level), for as long as the component is
   * mounted, as `client.load` does: for a model of which `follow` names a list of conditions. Throws for conditions that
   * `load` does not take. Default false.
   */
  readonly load?: boolean | undefined;
};

type Asked = ShownQuery<ModelSchema, string> | "skip" | undefined;

/** The query without `load`, which this does. It keeps its identity as long as the given one equals it. */
export function useLoadedQuery(model: string, query: Asked): Query<ModelSchema, string> | "skip" | undefined {
  const client = useClient();
  const given = useFirstOfEquals(query);
  const [asked, part] = useMemo(() => withoutLoad(given), [given]);
  const [, rethrow] = useState<never>();
  useEffect(() => {
    if (!part || client === stillClient) return undefined;
    try {
      return client.load(model, ...part).release;
    } catch (error) {
      // An error of a render reaches the component that asks. One of an effect stops React.
      rethrow(() => {
        throw error;
      });
      return undefined;
    }
  }, [client, model, part]);
  return asked;
}

type PartArguments = readonly [
  where: FollowedWhere<object>,
  options: { readonly include: Readonly<Record<never, true>> },
];

function withoutLoad(given: Asked): readonly [Exclude<Asked, undefined> | undefined, PartArguments?] {
  if (given === undefined || given === "skip") return [given];
  const { load, ...asked } = given;
  if (!load) return [asked];
  const { where = {}, include = {} } = asked;
  const names = Object.entries(include).map(([name, wanted]) => [name, Boolean(wanted)]);
  return [asked, [where as FollowedWhere<object>, { include: Object.fromEntries(names) }]];
}
