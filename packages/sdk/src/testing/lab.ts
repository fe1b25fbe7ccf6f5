import type { SyncClient } from "../api/sync-client.ts";
import { alone } from "../browser/tabs.ts";
import type { ClientOptions } from "../options.ts";
import { createClientOn, type Platform } from "../platform.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { Line } from "./lab/line.ts";
import { labServer } from "./lab/server.ts";
import { labStream } from "./lab/stream.ts";
import { ModelServer } from "./model-server.ts";

export interface Lab<S extends ModelSchema> {
  readonly server: ModelServer;
  readonly clock: FakeClock;
  /** A client on a line of its own. Handing in the disk of an earlier one is a reload. */
  client(options?: LabOptions): { client: SyncClient<S>; line: Line; disk: MemoryDisk; signals: LabSignals };
  /** Lets everything happen that waits for nothing but its turn. */
  settle(): Promise<void>;
}

export interface LabOptions
  extends Partial<
    Pick<ClientOptions<ModelSchema>, "paused" | "clientId" | "getToken" | "stream" | "upcast" | "follow">
  > {
  readonly actor?: string;
  readonly disk?: MemoryDisk;
  readonly platform?: Partial<Platform>;
}

export interface LabSignals {
  network(up: boolean): void;
  woke(): void;
  hidden(): void;
}

/** Counted over all laboratories of a test: a client that is reloaded into another must not repeat names. */
let namesMade = 0;

/** Clients against the model server, on lines that can be cut, with a clock that is moved by hand. */
export function lab<const S extends ModelSchema>(schema: S): Lab<S> {
  const clock = fakeClock();
  const server = new ModelServer(schema, () => clock.monotonic());

  return {
    server,
    clock,
    async settle() {
      for (let i = 0; i < 50; i++) await Promise.resolve();
      await new Promise((resolve) => setTimeout(resolve, 0));
      for (let i = 0; i < 50; i++) await Promise.resolve();
    },
    client({ actor = "ann", disk = new MemoryDisk(), platform = {}, getToken = () => "token", ...options } = {}) {
      const line = new Line();
      line.actor = actor;
      const signals: LabSignals = { network: () => {}, woke: () => {}, hidden: () => {} };
      const client = createClientOn(
        {
          clock,
          random: { roll: () => 0.5, id: () => `id-${++namesMade}` },
          storage: async () => memoryStorage(disk),
          tabs: alone,
          signals: () => ({ start: (listener) => void Object.assign(signals, listener), close: () => {} }),
          server: (token) => labServer(server, clock, line, () => token.current()),
          stream: () => labStream(server, line),
          ...platform,
        },
        { schema, url: "http://lab.test", getToken, ...options },
      );
      return { client, line, disk, signals };
    },
  };
}
