import type { SystemName } from "./chosen-system.ts";

/** Another system: what is installed, and what its figures mean. */
export interface Description {
  readonly name: string;
  /** With their exact versions. The license that is shown is that of the first. */
  readonly packages: readonly [string, ...string[]];
  /** What has happened to a write when its client says that the server has it. */
  readonly acknowledged: string;
  /** How the tasks are done with it. */
  readonly mapping: string;
}

export const OURS_ACKNOWLEDGED = "judged by the server's rules, committed by Postgres, and on the disk (`fsync`)";

/** All of them run in Node 20. They are installed for a run only, and the project has no code of theirs. */
export const CATALOGUE: Readonly<Record<SystemName, Description>> = {
  rxdb: {
    name: "RxDB",
    packages: ["rxdb@15.39.0", "rxdb-server@15.22.0", "rxjs@7.8.2", "express@4.21.2", "cors@2.8.5"],
    acknowledged: "in the memory of the server (`storage-memory`, which needs neither a license nor another database)",
    mapping:
      "RxDB Server on Express; a database in memory for each client; 15 is the newest RxDB with which RxDB Server (Server Side Public License) runs. Of a client that follows a deck the server's query modifier judges each write. Pages of 5,000 rows, and pushes of 300, about as many as the server's limit on bodies takes. To go offline the replication is canceled, and made again.",
  },
  hocuspocus: {
    name: "Hocuspocus",
    packages: [
      "@hocuspocus/server@3.4.4",
      "@hocuspocus/provider@3.4.4",
      "yjs@13.6.33",
      "y-protocols@1.0.7",
      "ws@8.18.3",
    ],
    acknowledged:
      "in the document in the memory of the server, which hands it to a storage 2 to 10 s later, if there is one (here is none)",
    mapping:
      "A deck is a Yjs document, and a slide one entry of its map, with a plain object as its value: a document has no rows. Clients that follow everything share one document with all slides. 3 is the newest that runs in Node 20.",
  },
  logux: {
    name: "Logux",
    packages: ["@logux/server@0.14.0", "@logux/client@0.23.2", "@logux/core@0.10.0", "nanostores@1.5.5", "ws@8.18.3"],
    acknowledged:
      "processed by the app's code on the server; here that puts the row into a map in memory, and its log is in memory",
    mapping:
      "A deck is a channel, and a created slide an action, which is sent again to the channel of its deck and to that of all. Logux stores no rows: the app keeps them in a map on both sides, and the first load is actions of 1,000 rows each.",
  },
  pouchdb: {
    name: "PouchDB",
    packages: [
      "pouchdb-core@9.0.0",
      "express-pouchdb@4.2.0",
      "pouchdb-adapter-leveldb@9.0.0",
      "pouchdb-adapter-memory@9.0.0",
      "pouchdb-adapter-http@9.0.0",
      "pouchdb-replication@9.0.0",
      "pouchdb-mapreduce@9.0.0",
      "express@4.21.2",
    ],
    acknowledged: "written to LevelDB's log on the server without `fsync`: a crash of the machine may lose it",
    mapping:
      "PouchDB Server's Express app on LevelDB; a database in memory for each client, with live replication in batches of 5,000. A deck is a database on the server, and a slide a document. Clients that only read do not push. To go offline the push is canceled, and made again.",
  },
  zero: {
    name: "Zero",
    packages: ["@rocicorp/zero@1.9.0", "ws@8.18.3"],
    acknowledged: "committed by Postgres, and on the disk (`fsync`)",
    mapping:
      "zero-cache on a Postgres like ours, with a custom mutator and a query that an app of two routes beside it answers. A deck is a query with its id. A slide is heard when the view of a query has it. It asks for Node 22, and runs in 20. It takes no writes while it is offline.",
  },
};
