import type { ModelApi, ModelSchema, SyncClient } from "@holdfast/sdk";
import { type LiveValue, liveClaim, livePart, liveRoom } from "@holdfast/sdk/bindings";
import { type ComputedRef, computed, type MaybeRefOrGetter, toValue } from "vue";
import type { Bindings } from "./bindings.ts";
import { type AnyClient, injectClient } from "./provide-client.ts";
import { useLiveValue } from "./use-live-value.ts";

/**
 * Returns the composables with the types of your schema. Call it once and export the result: `export const { useQuery,
 * useMutation } = createBindings<typeof schema>()`. They use the client of `provideClient`, or the one that you pass.
 */
export function createBindings<S extends ModelSchema>(given?: SyncClient<S>): Bindings<S> {
  const useClient = () => (given as unknown as AnyClient | undefined) ?? injectClient();
  /** Reads from the client. `open` reads the refs, and returns how to read the client. */
  function useRead<T>(open: (client: AnyClient) => () => T): ComputedRef<T> {
    const client = useClient();
    return useLiveValue((): LiveValue<T> => ({ subscribe: client.subscribe, read: open(client) }));
  }
  /** Reads from a model, unless the argument is `"skip"`. */
  const useModel = <A, T>(
    model: string,
    asked: MaybeRefOrGetter<A | "skip">,
    read: (api: ModelApi<ModelSchema, string>, asked: A) => T,
    skipped: T,
  ) =>
    useRead((client) => {
      const api = modelOf(client, model);
      const argument = toValue(asked);
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
      const claim = computed(() => liveClaim(client, model, toValue(id), toValue(options)));
      return {
        state: useLiveValue(() => claim.value),
        claim: () => claim.value.claim(),
        takeOver: () => claim.value.takeOver(),
        release: () => claim.value.release(),
      };
    },
    useMyPresence: (name, initial) => {
      const client = useClient();
      const room = computed(() => liveRoom(client, toValue(name), initial));
      return { state: useLiveValue(() => room.value.state), set: (next) => room.value.set(next) };
    },
    useOthers: (name) => {
      const client = useClient();
      return useLiveValue(() => liveRoom(client, toValue(name)).others);
    },
    useLoad: (model, where, options) => {
      const client = useClient();
      // By its text: equal conditions are the same part.
      const text = computed(() => JSON.stringify(toValue(where)));
      return useLiveValue(() => livePart(client, model, JSON.parse(text.value), options));
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
