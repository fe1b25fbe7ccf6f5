// What runs in the page: a client as an app makes it, what is measured with it, and the floors beside it.
import { createClient, type SyncClient } from "@holdfast/sdk";
import { slideSchema as schema } from "../client/slide-schema.ts";

export interface Opening {
  readonly url: string;
  readonly token: string;
  readonly store: string;
  readonly paused?: boolean;
}

let client: SyncClient<typeof schema>;

const open = ({ token, ...rest }: Opening): void => {
  client = createClient({ schema, getToken: () => token, ...rest });
};

const until = (holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const check = () => {
      if (!holds()) return;
      off();
      resolve();
    };
    const off = client.subscribe(check);
    check();
  });

const newSlide = (i: number) => ({ deckId: "deck-1", title: `Slide ${i}`, order: i, notes: "n".repeat(200) });

const program = {
  async open(opening: Opening): Promise<void> {
    open(opening);
    await client.ready();
  },

  /** From `update()` until the write is on disk, one after the other; in ms. */
  async enqueue(count: number): Promise<number[]> {
    const { id, queued } = client.models.slide.create(newSlide(0));
    await queued;
    const delays: number[] = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await client.models.slide.update(id, { title: `Title ${i}` }).queued;
      delays.push(performance.now() - start);
      // As between two keystrokes.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return delays;
  },

  /** The floor: one object of that size in a transaction of its own, strict, until it is complete. */
  async bareCommits(name: string, count: number): Promise<number[]> {
    const db = await openBare(name);
    const delays: number[] = [];
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await bareCommit(db, "strict", (store) => store.put({ seq: i, body: JSON.stringify(newSlide(i)) }));
      delays.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    db.close();
    return delays;
  },

  pause: (): void => client.pause(),

  async queueMany(count: number): Promise<void> {
    const writes = Array.from({ length: count }, (_, i) => client.models.slide.create(newSlide(i)));
    await Promise.all(writes.map(({ queued }) => queued));
  },

  /** As fast as a page can write that lets the browser have its turn now and then; until the server has all of it. */
  async burst(count: number): Promise<{ tookMs: number; callMs: number }> {
    const start = performance.now();
    let calling = 0;
    const receipts: Promise<unknown>[] = [];
    for (let i = 0; i < count; ) {
      const begun = performance.now();
      for (; i < count && performance.now() < begun + 10; i++)
        receipts.push(client.models.slide.create(newSlide(i)).receipt);
      calling += performance.now() - begun;
      await new Promise((resolve) => setTimeout(resolve));
    }
    await Promise.all(receipts);
    return { tookMs: performance.now() - start, callMs: calling / count };
  },

  /** From `createClient` until every queued write is counted and shown; in ms. */
  async reopenQueue(opening: Opening, count: number): Promise<number> {
    const start = performance.now();
    open(opening);
    await until(() => client.status().pending === count);
    if (client.models.slide.list().length < count) throw new Error("Not every queued write is shown.");
    return performance.now() - start;
  },

  /** The floor: as many objects of about that size, read at once. */
  async bareFill(name: string, count: number): Promise<void> {
    const db = await openBare(name);
    await bareCommit(db, "relaxed", (store) => {
      for (let seq = 0; seq < count; seq++)
        store.put({
          seq,
          clientTxId: `tx-${seq}`,
          operations: [{ action: "create", model: "slide", id: `${seq}`, data: newSlide(seq) }],
          body: JSON.stringify(newSlide(seq)),
        });
    });
    db.close();
  },
  async bareReadAll(name: string): Promise<number> {
    const start = performance.now();
    const db = await openBare(name);
    await new Promise((resolve, reject) => {
      const request = db.transaction("objects").objectStore("objects").getAll();
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return performance.now() - start;
  },

  /** From the first byte of the snapshot until its position is on disk; in ms. */
  async snapshot(opening: Opening): Promise<{ storedMs: number; readyMs: number }> {
    const first = firstByteOf("/v1/snapshot");
    open(opening);
    await client.ready();
    const ready = performance.now();
    await stored(opening.store);
    const done = performance.now();
    return { storedMs: done - (await first), readyMs: ready - (await first) };
  },

  /** The floor: as many rows into a store with the same key, in transactions of 2 000. */
  async barePut(name: string, rows: number): Promise<number> {
    const db = await openBare(name, ["model", "id"]);
    const values = Array.from({ length: rows }, (_, i) => ({
      model: "slide",
      id: `slide-${i}`,
      syncId: i,
      data: newSlide(i),
    }));
    const start = performance.now();
    for (let at = 0; at < rows; at += 2_000)
      await bareCommit(db, "relaxed", (store) => {
        for (const value of values.slice(at, at + 2_000)) store.put(value);
      });
    const took = performance.now() - start;
    db.close();
    return took;
  },

  /** From `createClient` until the first rows of a list can be shown; in ms. */
  async reopenRows(opening: Opening): Promise<number> {
    const start = performance.now();
    open(opening);
    await client.ready();
    const shown = client.models.slide.list({ where: { deckId: "deck-7" }, orderBy: "order", limit: 50 });
    const took = performance.now() - start;
    if (shown.length !== 50) throw new Error("Rows are missing.");
    return took;
  },

  checkRows(rows: number): void {
    if (client.models.slide.list().length !== rows) throw new Error("Not every row is there.");
  },
};
export type PageProgram = typeof program;

declare global {
  var bench: PageProgram;
}
globalThis.bench = program;

function openBare(name: string, keyPath: string | string[] = "seq"): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("objects", { keyPath });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function bareCommit(
  db: IDBDatabase,
  durability: IDBTransactionDurability,
  put: (store: IDBObjectStore) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = db.transaction("objects", "readwrite", { durability });
    put(transaction.objectStore("objects"));
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    transaction.commit();
  });
}

/** When the first answer of an address had begun. */
function firstByteOf(path: string): Promise<number> {
  const { fetch } = globalThis;
  return new Promise((resolve) => {
    globalThis.fetch = async (...given) => {
      const [asked] = given;
      const address = asked instanceof Request ? asked.url : String(asked);
      const answer = await fetch(...given);
      if (address.includes(path)) resolve(performance.now());
      return answer;
    };
  });
}

/** Looks into the store itself, as a tab that is opened next does. */
async function stored(name: string): Promise<void> {
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  db.onversionchange = () => db.close();
  const log = () =>
    new Promise<{ position?: number } | undefined>((resolve) => {
      const request = db.transaction("meta").objectStore("meta").get("log");
      request.onsuccess = () => resolve(request.result as { position?: number } | undefined);
    });
  while ((await log())?.position === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  db.close();
}
