import type { ModelApi, ModelSchema, SyncClient } from "@holdfast/sdk";
import { type LiveValue, liveClaim, livePart, liveRoom } from "@holdfast/sdk/bindings";
import type { Bindings } from "./bindings.ts";
import { type AnyClient, injectClient, modelOf } from "./provide-client.ts";
import { argumentOf, type Current, type Given, onceOpened, untilDestroyed, useLiveValue } from "./use-live-value.ts";

/**
 * Returns what components use, with the types of your schema. Call it once and export the result: `export const { useQuery,
 * useMutation } = createBindings<typeof schema>()`. They use the client of `provideClient`, or the one that you pass.
 */
export function createBindings<S extends ModelSchema>(given?: SyncClient<S>): Bindings<S> {
  const useClient = () => (given as unknown as AnyClient | undefined) ?? injectClient();
  /** `open` is called again when the argument says something else. */
  function useOpened<A, T>(asked: Given<A>, open: (client: AnyClient, argument: A) => LiveValue<T>): Current<T> {
    const client = useClient();
    return useLiveValue(onceOpened(asked, (argument) => open(client, argument)));
  }
  const useRead = <T>(read: (client: AnyClient) => T) =>
    useOpened("", (client) => ({ subscribe: client.subscribe, read: () => read(client) }));
  /** Reads from a model, unless the argument is `"skip"`. */
  const useModel = <A, T>(
    model: string,
    asked: Given<A | "skip">,
    read: (api: ModelApi<ModelSchema, string>, argument: A) => T,
    skipped: T,
  ) =>
    useOpened(asked, (client, argument) => {
      const api = modelOf(client, model);
      return { subscribe: client.subscribe, read: () => (argument === "skip" ? skipped : read(api, argument)) };
    });
  const bindings: Bindings<ModelSchema> = {
    useClient,
    useQuery: (model, query) => useModel(model, query, (api, asked) => api.list(asked), NONE) as never,
    useRecord: (model, id) => useModel(model, id, (api, asked) => api.get(asked), undefined),
    useCount: (model, query) => useModel(model, query, (api, asked) => api.count(asked), 0),
    useMutation: (model?: string) => {
      const client = useClient();
      return { ...(model !== undefined && modelOf(client, model)), commit: client.commit } as never;
    },
    useSyncStatus: () => useRead((client) => client.status()),
    useConflicts: () => useRead((client) => client.conflicts()),
    usePending: () => useRead((client) => client.pending()),
    useAttention: () => useRead((client) => client.attention()),
    useClaim: (model, id, options) => {
      const client = useClient();
      const args = () => [argumentOf(id), argumentOf(options)] as const;
      const live = onceOpened(args, ([asked, terms]) => liveClaim(client, model, asked, terms));
      const state = untilDestroyed(useLiveValue(live));
      return {
        get current() {
          return state.current;
        },
        claim: () => live().claim(),
        takeOver: () => live().takeOver(),
        release: () => live().release(),
      };
    },
    useMyPresence: (name, initial) => {
      const client = useClient();
      const room = onceOpened(name, (asked) => liveRoom(client, asked, initial));
      const state = untilDestroyed(useLiveValue(() => room().state));
      return {
        get current() {
          return state.current;
        },
        set: (next) => room().set(next),
      };
    },
    useOthers: (name) => untilDestroyed(useOpened(name, (client, asked) => liveRoom(client, asked).others)),
    useLoad: (model, where, options) =>
      untilDestroyed(useOpened(where, (client, asked) => livePart(client, model, asked as never, options))),
  };
  return bindings as unknown as Bindings<S>;
}

/** One shared empty list, so that its identity is stable. */
const NONE: readonly never[] = [];
