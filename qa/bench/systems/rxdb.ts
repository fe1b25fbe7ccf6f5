import { freePort } from "../../support/free-port.ts";
import { Awaited, type Installed, type SlideRow, type System, slideRows } from "./system.ts";

// The types of what is used here. The packages are no dependencies of this workspace.
interface Observable<T> {
  subscribe(listener: (value: T) => void): void;
}
interface Collection {
  insert(row: SlideRow): Promise<unknown>;
  bulkInsert(rows: readonly SlideRow[]): Promise<unknown>;
  readonly insert$: Observable<{ readonly documentId: string }>;
  count(): { exec(): Promise<number> };
}
interface Database {
  addCollections(collections: object): Promise<{ readonly slide: Collection }>;
  destroy(): Promise<unknown>;
}
interface Replication {
  readonly sent$: Observable<{ readonly id: string }>;
  awaitInitialReplication(): Promise<unknown>;
  cancel(): Promise<unknown>;
}
interface Query {
  readonly selector: Record<string, unknown>;
}
interface Server {
  addReplicationEndpoint(options: object): unknown;
  start(): Promise<unknown>;
}
interface Auth {
  readonly data: { readonly deck?: string };
}

const slide = {
  schema: {
    version: 0,
    primaryKey: "id",
    type: "object",
    properties: {
      id: { type: "string", maxLength: 100 },
      deckId: { type: "string", maxLength: 100 },
      title: { type: "string" },
      notes: { type: "string" },
    },
    required: ["id", "deckId", "title", "notes"],
  },
};

/** Each client has a database of its own, replicated with the endpoint of rxdb-server. The server's collection is in memory. */
export const rxdb: System = {
  async serve({ require }, rows) {
    const { createRxServer } = require("rxdb-server/plugins/server") as {
      createRxServer(options: object): Promise<Server>;
    };
    const { RxServerAdapterExpress: adapter } = require("rxdb-server/plugins/adapter-express") as {
      RxServerAdapterExpress: object;
    };
    const { database, collection } = await open(require, "server");
    await collection.bulkInsert([...slideRows(rows)]);
    const port = await freePort();
    const authHandler = ({ deck }: Auth["data"]) => ({ data: { deck }, validUntil: Date.now() + 1e9 });
    const server = await createRxServer({ database, adapter, port, hostname: "127.0.0.1", authHandler });
    const queryModifier = ({ data: { deck } }: Auth, query: Query) => {
      if (deck !== undefined) query.selector.deckId = { $eq: deck };
      return query;
    };
    server.addReplicationEndpoint({ name: "slide", collection, queryModifier });
    await server.start();
    return { url: `http://127.0.0.1:${port}/slide/0` };
  },

  async connect({ require }, url, deckId) {
    const { database, collection } = await open(require, `client-${++opened}`);
    const arrived = new Set<string>();
    const awaited = new Awaited();
    let replication = await replicate();

    async function replicate(): Promise<Replication> {
      const { replicateServer } = require("rxdb-server/plugins/replication-server") as {
        replicateServer(options: object): Replication;
      };
      const made = replicateServer({
        replicationIdentifier: "slides",
        ...{ collection, url, live: true, waitForLeadership: false },
        headers: deckId === undefined ? {} : { deck: deckId },
        pull: { batchSize: PULLED },
        push: { batchSize: PUSHED },
      });
      made.sent$.subscribe(({ id }) => awaited.acknowledge(id));
      return made;
    }

    await replication.awaitInitialReplication();
    let listener: ((id: string) => void) | undefined;
    collection.insert$.subscribe(({ documentId }) => {
      arrived.add(documentId);
      listener?.(documentId);
    });
    return {
      async write(id, data) {
        const acknowledged = awaited.acknowledged(id);
        await collection.insert({ id, ...data });
        await acknowledged;
      },
      hear(next) {
        listener = next;
      },
      async pause() {
        await replication.cancel();
      },
      queue: (id, data) => collection.insert({ id, ...data }),
      resume() {
        void replicate().then((made) => {
          replication = made;
        });
      },
      has: (id) => arrived.has(id),
      count: () => collection.count().exec(),
      async close() {
        await replication.cancel();
        await database.destroy();
      },
    };
  },
};

/** Rows of a page: a first load takes twice as long with 1,000, and no less with 10,000. */
const PULLED = 5_000;
/** Its server takes bodies of 100 kB, which is about as many rows as these. */
const PUSHED = 300;

let opened = 0;

async function open(require: Installed["require"], name: string) {
  const { createRxDatabase } = require("rxdb/plugins/core") as { createRxDatabase(options: object): Promise<Database> };
  const { getRxStorageMemory } = require("rxdb/plugins/storage-memory") as { getRxStorageMemory(): object };
  const database = await createRxDatabase({ name, storage: getRxStorageMemory(), multiInstance: false });
  const { slide: collection } = await database.addCollections({ slide });
  return { database, collection };
}
