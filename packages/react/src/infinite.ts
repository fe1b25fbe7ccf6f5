import type { ModelSchema } from "@holdfast/sdk";
import { type UseInfiniteQuery, useInfiniteQuery } from "./hooks/use-infinite-query.ts";

export type { InfiniteOptions, InfiniteQuery, InfiniteWindow, UseInfiniteQuery } from "./hooks/use-infinite-query.ts";
export { useInfiniteQuery };

/** The hook with the types of your schema: `export const useInfiniteQuery = createInfiniteQuery<typeof schema>();` */
export const createInfiniteQuery = <S extends ModelSchema>(): UseInfiniteQuery<S> =>
  useInfiniteQuery as unknown as UseInfiniteQuery<S>;
