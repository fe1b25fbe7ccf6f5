import type { FollowScope } from "../api/followed-scope.ts";
import type { SyncClient } from "../api/sync-client.ts";
import { alone } from "../browser/tabs.ts";
import type { ClientOptions } from "../options.ts";
import { createClientOn, type Platform } from "../platform.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { ModelServer } from "./model-server.ts";
import { TestConnection } from "./test-connection.ts";
import { testStream } from "./test-stream.ts";
import { testTransport } from "./test-transport.ts";

/** A server in memory, for tests of apps: it follows the rules of the real server for commits, claims and presence. */
export interface TestServer<S extends ModelSchema> {
  /** The server's own view: its log, rows, claims and presence rooms. `refuse` makes it reject writes. */
  readonly server: ModelServer;
  /** The time of the server and of all its clients. It moves only by `advance`. */
  readonly clock: FakeClock;
  /** Opens a client with a connection of its own. With the `disk` of an earlier client, it starts as after a reload. */
  client(options?: TestClientOptions): TestClient<S>;
  /** Waits until all pending promises have run. Timers do not fire: `clock.advance(ms)` does that. */
  settle(): Promise<void>;
}

export interface TestClient<S extends ModelSchema> {
  readonly client: SyncClient<S>;
  readonly connection: TestConnection;
  readonly disk: MemoryDisk;
  readonly signals: TestSignals;
  /** Disconnects the client, as when a device loses its network. Writes stay in the queue. */
  offline(): void;
  /** Connects it again. */
  online(): void;
}

export interface TestClientOptions
  extends Partial<
    Pick<
      ClientOptions<ModelSchema>,
      "paused" | "clientId" | "owner" | "getToken" | "stream" | "upcast" | "follow" | "releasedParts" | "releasedRows"
    >
  > {
  /** The user of the client. Default: "ann". */
  readonly actor?: string | undefined;
  readonly disk?: MemoryDisk | undefined;
  readonly platform?: Partial<Platform> | undefined;
}

/** Events of the platform. */
export interface TestSignals {
  network(up: boolean): void;
  woke(): void;
  hidden(): void;
}

/** Counted across all test servers, because a client whose disk moves to another server must not repeat names. */
let namesMade = 0;

/** Creates a server in memory, whose clients share a clock that the test moves. */
export function createTestServer<const S extends ModelSchema>(schema: S): TestServer<S> {
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
    client({
      actor = "ann",
      disk = new MemoryDisk(),
      platform = {},
      getToken = () => "token",
      follow,
      ...options
    } = {}) {
      const connection = new TestConnection(schema.models);
      connection.actor = actor;
      connection.serverTime = clock.now;
      const signals: TestSignals = { network: () => {}, woke: () => {}, hidden: () => {} };
      const client = createClientOn(
        {
          clock,
          random: { roll: () => 0.5, id: () => `id-${++namesMade}` },
          storage: async () => memoryStorage(disk),
          tabs: alone,
          signals: () => ({ start: (listener) => void Object.assign(signals, listener), close: () => {} }),
          server: (token) => testTransport(server, clock, connection, () => token.current()),
          stream: () => testStream(server, connection),
          ...platform,
        },
        {
          ...{ schema, url: "http://holdfast.test", getToken, ...options },
          ...(follow && { follow: follow as FollowScope<S> }),
        },
      );
      const connect = (up: boolean) => {
        connection.up = up;
        if (!up) connection.cut?.();
        signals.network(up);
      };
      return { client, connection, disk, signals, offline: () => connect(false), online: () => connect(true) };
    },
  };
}
