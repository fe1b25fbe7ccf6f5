import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import type { Slide } from "../client/clients.ts";
import { Awaited, type Installed, type System, slideRows } from "./system.ts";

// The types of what is used here. The packages are no dependencies of this workspace.
type Document = Slide & { readonly _id: string };
interface Changes {
  readonly docs: readonly { readonly _id: string }[];
}
interface Replication {
  on(event: "change", listener: (change: Changes) => void): Replication;
  cancel(): void;
}
interface Database {
  put(document: Document): Promise<unknown>;
  bulkDocs(documents: readonly Document[]): Promise<unknown>;
  info(): Promise<{ readonly doc_count: number }>;
  close(): Promise<unknown>;
  readonly replicate: {
    to(url: string, options: object): Replication & Promise<unknown>;
    from(url: string, options: object): Replication & Promise<unknown>;
  };
}
interface PouchDb {
  plugin(plugin: unknown): PouchDb;
  defaults(options: object): PouchDb;
  new (name: string, options?: object): Database;
}

const ALL = "all";
/** Documents of a batch. The default is 100; a first load is a fifth faster with these than with 1,000. */
const BATCH = 5_000;

/** A deck is a database, and a slide a document of it. */
export const pouchdb: System = {
  async serve(installed, rows, folder) {
    const express = installed.require("express") as () => { use(handler: unknown): void; listen: Listen };
    const serve = installed.require("express-pouchdb") as (pouch: PouchDb, options: object) => unknown;
    const plugins = ["pouchdb-adapter-leveldb", "pouchdb-adapter-http", "pouchdb-mapreduce", "pouchdb-replication"];
    const pouch = assembled(installed, plugins).defaults({ prefix: join(folder, "/"), adapter: "leveldb" });
    const slides = [...slideRows(rows)].map(({ id, ...slide }) => ({ _id: id, ...slide }));
    await new pouch(ALL).bulkDocs(slides);
    const app = express();
    app.use(serve(pouch, { mode: "minimumForPouchDB" }));
    const port = await freePort();
    await new Promise<void>((resolve) => app.listen(port, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${port}` };
  },

  async connect(installed, url, deckId) {
    pouch ??= assembled(installed, ["pouchdb-adapter-memory", "pouchdb-adapter-http", "pouchdb-replication"]);
    const database = new pouch(`client-${++opened}`, { adapter: "memory" });
    const remote = `${url}/${deckId?.toLowerCase() ?? ALL}`;
    const arrived = new Set<string>();
    const awaited = new Awaited();
    let listener: ((id: string) => void) | undefined;
    await database.replicate.from(remote, { batch_size: BATCH });
    const live = { live: true, retry: true, batch_size: BATCH };
    const pulled = database.replicate.from(remote, live).on("change", ({ docs }) => {
      for (const { _id } of docs) {
        arrived.add(_id);
        listener?.(_id);
      }
    });
    // Only from a client that writes: of those that read, each would ask the server about what it has just been sent.
    let pushed: Replication | undefined;
    const push = () => {
      pushed ??= database.replicate.to(remote, live).on("change", ({ docs }) => {
        for (const { _id } of docs) awaited.acknowledge(_id);
      });
    };
    return {
      async write(id, data) {
        push();
        const acknowledged = awaited.acknowledged(id);
        await database.put({ _id: id, ...data });
        await acknowledged;
      },
      hear(next) {
        listener = next;
      },
      pause() {
        pushed?.cancel();
        pushed = undefined;
      },
      queue: (id, data) => database.put({ _id: id, ...data }),
      resume: push,
      has: (id) => arrived.has(id),
      count: async () => (await database.info()).doc_count,
      async close() {
        pushed?.cancel();
        pulled.cancel();
        await database.close();
      },
    };
  },
};

type Listen = (port: number, host: string, listening: () => void) => unknown;

let pouch: PouchDb | undefined;
let opened = 0;

function assembled({ require }: Installed, plugins: readonly string[]): PouchDb {
  const core = require("pouchdb-core") as PouchDb & { readonly default?: PouchDb };
  return plugins.reduce((made, name) => {
    const plugin = require(name) as { readonly default?: unknown };
    return made.plugin(plugin.default ?? plugin);
  }, core.default ?? core);
}
