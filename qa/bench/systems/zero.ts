import type { System } from "./system.ts";
import { zeroModel } from "./zero-model.ts";
import { serveZero } from "./zero-server.ts";

/** A deck is a query with its id. */
export const zero: System = {
  serve: serveZero,

  async connect(installed, url, deckId) {
    const { schema, mutators, queries, Zero } = await zeroModel(installed);
    // It takes the browser's, which Node 20 has not.
    const { WebSocket } = installed.require("ws") as { WebSocket: typeof globalThis.WebSocket };
    globalThis.WebSocket = WebSocket;
    const client = new Zero({
      server: url,
      schema,
      mutators,
      userID: "ann",
      storageKey: `client-${++opened}`,
      kvStore: "mem",
      logLevel: "error",
      context: {},
    });
    const view = client.materialize(queries.slides(deckId === undefined ? undefined : { deckId }));
    const known = new Set<string>();
    let listener: ((id: string) => void) | undefined;
    await new Promise<void>((resolve) =>
      view.addListener((rows, result) => {
        for (const { id } of rows) {
          if (known.has(id)) continue;
          known.add(id);
          listener?.(id);
        }
        if (result === "complete") resolve();
      }),
    );
    return {
      async write(id, data) {
        const { type } = await client.mutate(mutators.create({ id, ...data })).server;
        if (type !== "success") throw new Error("Zero refused a write.");
      },
      hear(next) {
        listener = next;
      },
      pause: takesNone,
      queue: takesNone,
      resume: takesNone,
      has: (id) => known.has(id),
      count: () => known.size,
      close: () => client.close(),
    };
  },
};

let opened = 0;

/** Its documentation says so. */
function takesNone(): never {
  throw new Error("Zero takes no writes while it is offline.");
}
