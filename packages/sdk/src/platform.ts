import { Joins } from "./api/relations/joins.ts";
import type { SyncClient } from "./api/sync-client.ts";
import { noSignals } from "./browser/signals.ts";
import { alone } from "./browser/tabs.ts";
import { createShell, type Shell } from "./client.ts";
import { appClock, appRandom } from "./engine/app-platform.ts";
import { systemClock, systemRandom } from "./engine/system.ts";
import { reportToApp } from "./errors.ts";
import type { ClientOptions } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { openRuntime, type Ports } from "./runtime.ts";
import { mergeText } from "./text/merge-text.ts";

export type { Random, Signals, Storage, Tabs } from "./engine/ports.ts";
export { StorageFailure } from "./engine/ports.ts";
export { type Awaitable, type KeyValueChange, type KeyValueStore, keyValueStorage } from "./storage/key-value.ts";

/**
 * What a client needs from its environment: React Native, Electron, a Node process, a test. Only `storage` is required.
 * By default a client is the only one of its store (no `tabs`), hears of no network changes (no `signals`), and uses
 * the global `fetch`, `WebSocket`, `setTimeout` and `crypto.getRandomValues`.
 */
export interface Platform
  extends Pick<Ports, "storage">,
    Optional<Omit<Ports, "storage">>,
    Optional<Omit<Shell, "runtime" | "relations">> {}

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Creates a client on another platform than browsers and Node. It needs no IndexedDB, Web Locks or BroadcastChannel. */
export function createClientOn<const S extends ModelSchema>(
  platform: Platform,
  options: ClientOptions<S>,
): SyncClient<S> {
  const given = withoutUndefined(platform);
  const ports = { tabs: alone, signals: noSignals, ...given };
  return createShell(
    {
      collab: () => import("./api/claims/collab.ts"),
      ...given,
      clock: platform.clock ? appClock(platform.clock, reportToApp) : systemClock,
      random: platform.random ? appRandom(platform.random, reportToApp) : systemRandom,
      relations: async () => ({ Joins }),
      runtime: async () => ({
        openRuntime: (deps) => openRuntime({ merging: async () => ({ mergeText }), ...ports }, deps),
      }),
    },
    options,
  );
}

/** So that what is given as undefined does not replace a default. */
const withoutUndefined = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
