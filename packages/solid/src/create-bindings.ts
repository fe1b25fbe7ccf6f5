import type { ModelApi, ModelSchema, SyncClient } from "@holdfast/sdk";
import { type LiveValue, liveClaim, livePart, liveRoom } from "@holdfast/sdk/bindings";
import { type Accessor, createMemo } from "solid-js";
import type { Bindings } from "./bindings.ts";
import { subscribeTogether } from "./subscribe-together.ts";
import { type AnyClient, useProvidedClient } from "./sync-provider.ts";
import { argumentOf, type Given, useLiveValue } from "./use-live-value.ts";

/**
 * Returns the primitives with the types of your schema. Call it once and export the result: `export const { useQuery,
 * useMutation } = createBindings<typeof schema>()`. They use the client of `<SyncProvider>`, or the one that you pass.
 */
export function createBindings<S extends ModelSchema>(given?: SyncClient<S>): Bindings<S> {
  const useClient = () => (given as unknown as AnyClient | undefined) ?? useProvidedClient();
  /** Reads from the client. `open` reads the accessors, and returns how to read the client. */
  function useRead<T>(open: (client: AnyClient) => () => T): Accessor<T> {
    const client = useClient();
    return useLiveValue((): LiveValue<T> => ({ subscribe: subscribeTogether(client), read: open(client) }));
  }
  /** Reads from a model, unless the argument is `"skip"`. */
  const useModel = <A, T>(
    model: string,
    asked: Given<A | "skip">,
    read: (api: ModelApi<ModelSchema, string>, asked: A) => T,
    skipped: T,
  ) =>
    useRead((client) => {
      const api = modelOf(client, model);
      const argument = argumentOf(asked);
      return () => (argument === "skip" ? skipped : read(api, argument));
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
    useSyncStatus: () => useRead(({ status }) => status),
    useConflicts: () => useRead(({ conflicts }) => conflicts),
    usePending: () => useRead(({ pending }) => pending),
    useAttention: () => useRead(({ attention }) => attention),
    useClaim: (model, id, options) => {
      const client = useClient();
      const claim = createMemo(() => liveClaim(client, model, argumentOf(id), argumentOf(options)));
      return {
        state: useLiveValue(() => claim()),
        claim: () => claim().claim(),
        takeOver: () => claim().takeOver(),
        release: () => claim().release(),
      };
    },
    useMyPresence: (name, initial) => {
      const client = useClient();
      const room = createMemo(() => liveRoom(client, argumentOf(name), initial));
      return { state: useLiveValue(() => room().state), set: (next) => room().set(next) };
    },
    useOthers: (name) => {
      const client = useClient();
      return useLiveValue(() => liveRoom(client, argumentOf(name)).others);
    },
    useLoad: (model, where, options) => {
      const client = useClient();
      // By its text: equal conditions are the same part.
      const text = createMemo(() => JSON.stringify(argumentOf(where)));
      return useLiveValue(() => livePart(client, model, JSON.parse(text()), options));
    },
  };
  return bindings as unknown as Bindings<S>;
}

/** One shared empty list, so that its identity is stable. */
const NONE: readonly never[] = [];

/** The model's API. For an unknown model, the error names the model. */
function modelOf(client: AnyClient, model: string): ModelApi<ModelSchema, string> {
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  return api;
}
