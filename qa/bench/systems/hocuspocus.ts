import { freePort } from "../../support/free-port.ts";
import type { Slide } from "../client/clients.ts";
import { type Installed, type SlideRow, type System, slideRows } from "./system.ts";

// The types of what is used here. The packages are no dependencies of this workspace.
interface SlideMap {
  readonly size: number;
  set(id: string, slide: Slide): void;
  has(id: string): boolean;
  observe(listener: (event: { readonly keysChanged: ReadonlySet<string> }) => void): void;
}
interface Doc {
  getMap(name: string): SlideMap;
  transact(change: () => void): void;
}
interface Provider {
  readonly hasUnsyncedChanges: boolean;
  on(event: "synced" | "unsyncedChanges" | "disconnect", listener: () => void): void;
  connect(): unknown;
  disconnect(): void;
  destroy(): void;
}
interface Server {
  listen(): Promise<unknown>;
}

/** The document of clients that follow everything. */
const ALL = "all";
const rowsOf = (document: Doc) => document.getMap("slides");

/** A deck is a document, and a slide an entry of its map. */
export const hocuspocus: System = {
  async serve({ require }, rows) {
    const { Server } = require("@hocuspocus/server") as { Server: new (options: object) => Server };
    const port = await freePort();
    const onLoadDocument = async ({ document, documentName }: { document: Doc; documentName: string }) => {
      if (documentName !== ALL) return;
      document.transact(() => {
        for (const { id, ...slide } of slideRows(rows) as Iterable<SlideRow>) rowsOf(document).set(id, slide);
      });
    };
    await new Server({ port, address: "127.0.0.1", quiet: true, stopOnSignals: false, onLoadDocument }).listen();
    return { url: `ws://127.0.0.1:${port}` };
  },

  async connect({ require }: Installed, url, deckId) {
    const { HocuspocusProvider } = require("@hocuspocus/provider") as {
      HocuspocusProvider: new (options: object) => Provider;
    };
    const { Doc } = require("yjs") as { Doc: new () => Doc };
    const { WebSocket: WebSocketPolyfill } = require("ws") as { WebSocket: unknown };
    const document = new Doc();
    const slides = rowsOf(document);
    const provider = new HocuspocusProvider({ url, name: deckId ?? ALL, document, WebSocketPolyfill });
    await new Promise<void>((resolve) => provider.on("synced", resolve));
    let acknowledge = () => {};
    provider.on("unsyncedChanges", () => {
      if (!provider.hasUnsyncedChanges) acknowledge();
    });
    return {
      async write(id, data) {
        const acknowledged = new Promise<void>((resolve) => {
          acknowledge = resolve;
        });
        slides.set(id, data);
        await acknowledged;
      },
      hear(listener) {
        slides.observe(({ keysChanged }) => {
          for (const id of keysChanged) listener(id);
        });
      },
      async pause() {
        const disconnected = new Promise<void>((resolve) => provider.on("disconnect", resolve));
        provider.disconnect();
        await disconnected;
      },
      queue: async (id, data) => slides.set(id, data),
      resume() {
        provider.connect();
      },
      has: (id) => slides.has(id),
      count: () => slides.size,
      async close() {
        provider.destroy();
      },
    };
  },
};
