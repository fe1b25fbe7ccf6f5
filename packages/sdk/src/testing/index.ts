// For tests of apps that use this package, and for tests of other storages.

export { noSignals } from "../browser/signals.ts";
export { alone } from "../browser/tabs.ts";
export { type Storage, StorageFailure } from "../engine/ports.ts";
export { systemClock, systemRandom } from "../engine/system.ts";
export { createClientOn, type Platform } from "../platform.ts";
export { indexedDbStorage } from "../storage/indexeddb.ts";
export { MemoryDisk, memoryStorage } from "../storage/memory.ts";
export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { ModelServer } from "./model-server.ts";
export { type StorageCheck, storageContract } from "./storage-contract.ts";
export { TestConnection } from "./test-connection.ts";
export { createTestServer, type TestClientOptions, type TestServer, type TestSignals } from "./test-server.ts";
