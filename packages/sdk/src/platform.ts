import type { SyncClient } from "./api/sync-client.ts";
import { createShell, type Shell } from "./client.ts";
import type { ClientOptions } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { openRuntime, type Ports } from "./runtime.ts";

/** Everything that differs between a Node process, a test, and other environments that load all code at once. */
export interface Platform extends Ports, Omit<Shell, "runtime"> {}

export const createClientOn = <const S extends ModelSchema>(
  platform: Platform,
  options: ClientOptions<S>,
): SyncClient<S> =>
  createShell({ ...platform, runtime: async () => ({ openRuntime: (deps) => openRuntime(platform, deps) }) }, options);
