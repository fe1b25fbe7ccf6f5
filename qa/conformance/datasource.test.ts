import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createDatasourceHandler, type DatasourceHandlerOptions } from "@holdfast/sdk/datasource";
import { signWebhook } from "@holdfast/sdk/webhooks";
import { expect, test } from "vitest";
import { openTaskStore } from "../../examples/sqlite-datasource/src/task-store.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { brokenBy } from "./broken-by.ts";

const signingKey = `whsec_${Buffer.from("a key of the conformance kit's test").toString("base64")}`;
const folder = temporaryFolder("datasource");

type Store = Pick<DatasourceHandlerOptions, "commit" | "load" | "list" | "events">;

/** Runs the kit against the example's store, or what a change makes of it. Returns the sentences that are not kept. */
async function broken(
  change: (store: Store) => Partial<Store> = () => ({}),
  around: (handle: (request: Request) => Promise<Response>) => (request: Request) => Promise<Response> = (same) => same,
): Promise<string[]> {
  const store = openTaskStore(join(folder, `${randomUUID()}.db`));
  const handle = around(createDatasourceHandler({ signingKey, onError: () => {}, ...store, ...change(store) }).fetch);
  try {
    return await brokenBy(
      (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", async () => {
          const headers = new Headers(request.headers as Record<string, string>);
          const answer = await handle(
            new Request("http://handler/", { method: "POST", headers, body: Buffer.concat(chunks).toString() }),
          );
          response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
        });
      },
      { signingKey, model: "task", data: { title: "a", done: false }, change: { done: true } },
    );
  } finally {
    store.close();
  }
}

const anew = (commit: Parameters<Store["commit"]>[0]) => ({ ...commit, clientTxId: randomUUID() });

test("[DS34] the example over SQLite keeps every promise", async () => {
  expect(await broken()).toEqual([]);
});

/** Handlers with a mistake, and a part of the sentence that they break. */
const MISTAKES: Record<string, [RegExp, Parameters<typeof broken>[0]]> = {
  "it does a repeated commit again": [/comes again/, ({ commit }) => ({ commit: (one) => commit(anew(one)) })],
  "it remembers only the newest commit": [
    /comes again/,
    ({ commit }) => {
      let newest = "";
      return {
        async commit(one) {
          if (one.clientTxId === newest) return;
          newest = one.clientTxId;
          await commit(anew(one));
        },
      };
    },
  ],
  "it looks whether a commit is done, and does it later": [
    /several times at once/,
    ({ commit }) => {
      const done = new Set<string>();
      return {
        async commit(one) {
          if (done.has(one.clientTxId)) return;
          await new Promise(setImmediate);
          await commit(anew(one));
          done.add(one.clientTxId);
        },
      };
    },
  ],
  "it writes the first operation of a commit that it refuses": [
    /whole or not at all/,
    ({ commit }) => ({
      async commit(one) {
        try {
          await commit(one);
        } catch (error) {
          await commit(anew({ ...one, operations: one.operations.slice(0, 1) })).catch(() => {});
          throw error;
        }
      },
    }),
  ],
  "it takes everything": [
    /do not|does not stop|whole/,
    ({ commit }) => ({ commit: (one) => Promise.resolve(commit(one)).catch(() => {}) }),
  ],
  "it forgets what an update does not name": [
    /keeps the other fields/,
    ({ commit }) => ({
      commit: (one) =>
        commit({
          ...one,
          operations: one.operations.map((operation) =>
            operation.action === "update" ? { ...operation, data: { title: "?", ...operation.data } } : operation,
          ),
        }),
    }),
  ],
  "a load has a record that does not exist": [
    /left out of a load|deleted one is gone/,
    ({ load }) => ({
      load: async (model, ids) => {
        const found = await load(model, ids);
        return ids.map((id) => found.find((one) => one.id === id) ?? { id, data: { title: "", done: false } });
      },
    }),
  ],
  "a list leaves out what is between two pages": [
    /a list has every record/,
    ({ list }) => ({
      async list(model, page) {
        const { records, cursor } = await list(model, { ...page, limit: page.limit + 1 });
        return { records: records.slice(0, page.limit), cursor };
      },
    }),
  ],
  "a list has one record on two pages": [
    /a list has every record/,
    ({ list }) => ({
      async list(model, page) {
        const { records, cursor } = await list(model, page);
        return { records, cursor: cursor === null ? null : (records.at(-2)?.id ?? null) };
      },
    }),
  ],
  "events do not name deleted records": [
    /events name every record/,
    ({ events, load }) => ({
      async events(page) {
        const found = await events(page);
        const there = await load(
          "task",
          found.events.map(({ id }) => id),
        );
        return { ...found, events: found.events.filter(({ id }) => there.some((one) => one.id === id)) };
      },
    }),
  ],
  "events are given once": [
    /events name every record/,
    ({ events }) => {
      let given = 0;
      return {
        async events(page) {
          const found = await events({ ...page, cursor: String(Math.max(given, Number(page.cursor ?? 0))) });
          given = Number(found.cursor);
          return found;
        },
      };
    },
  ],
  "its events are in the order in which commits begin": [
    /while others commit/,
    ({ commit }) => {
      const published: { place: number; model: string; id: string }[] = [];
      let place = 0;
      return {
        async commit(one) {
          const begun = one.operations.map(({ model, id }) => ({ place: ++place, model, id }));
          // A commit takes the longer, the more it writes.
          for (const _ of begun) await new Promise(setImmediate);
          await commit(one);
          published.push(...begun);
        },
        async events({ cursor, limit }) {
          const later = published.filter((event) => event.place > Number(cursor ?? 0));
          const events = later.sort((a, b) => a.place - b.place).slice(0, limit);
          return { events, cursor: String(events.at(-1)?.place ?? cursor ?? 0), more: events.length === limit };
        },
      };
    },
  ],
  "the cursor goes further than the events": [
    /events name every record/,
    ({ events }) => ({
      async events(page) {
        const found = await events(page);
        return { ...found, cursor: String(Number(found.cursor) + 1) };
      },
    }),
  ],
};

test.each(Object.keys(MISTAKES))("[DS34] [DS58] the kit finds a handler of which is true: %s", async (mistake) => {
  const [says, change] = MISTAKES[mistake] as (typeof MISTAKES)[string];
  expect((await broken(change)).filter((sentence) => says.test(sentence))).not.toEqual([]);
});

test("[DS34] the kit finds a handler that does not check signatures", async () => {
  const trusting = (handle: (request: Request) => Promise<Response>) => async (request: Request) => {
    const body = await request.text();
    const headers = await signWebhook({ secret: signingKey, id: `msg_${randomUUID()}`, body });
    return await handle(new Request(request.url, { method: "POST", headers, body }));
  };
  expect(await broken(undefined, trusting)).toEqual([expect.stringContaining("without a signature")]);
});
