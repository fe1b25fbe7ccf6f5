import type { Mutation } from "../../core/queue/mutation.ts";
import { storageInFile } from "../storage-in-file.ts";
import { openStoreFile } from "../store-file.ts";

// Holds a store with one write in it until it is killed, or its parent has ended.
const storage = storageInFile(openStoreFile(process.argv[2] ?? "", "s"));
await storage.open("c");
const operations = [] as const;
const mutation: Mutation = {
  clientTxId: "of the holder",
  seq: undefined,
  operations,
  reads: [],
  body: "{}",
  bytes: 2,
  createdAt: 1,
  owner: null,
  attempts: 0,
  keys: [],
  echoed: [],
  stage: { phase: "saving" },
};
await storage.enqueue([{ put: [{ mutation }], drop: [] }]);
process.on("disconnect", () => process.exit());
process.send?.("held");
