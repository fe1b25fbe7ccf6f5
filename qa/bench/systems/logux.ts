import { freePort } from "../../support/free-port.ts";
import type { Slide } from "../client/clients.ts";
import { type SlideRow, type System, slideRows } from "./system.ts";

// The types of what is used here. The packages are no dependencies of this workspace.
interface Create {
  readonly type: "slide/create";
  readonly slide: SlideRow;
}
/** Rows of a first load. */
interface Loaded {
  readonly type: "slides/loaded";
  readonly slides: readonly SlideRow[];
}
interface Server {
  auth(check: () => boolean): void;
  channel(name: RegExp, channel: { access(): boolean; load(context: { params: string[] }): readonly Loaded[] }): void;
  type(
    name: string,
    type: {
      access(): boolean;
      resend(context: unknown, action: Create): { readonly channels: readonly string[] };
      process(context: unknown, action: Create): void;
    },
  ): void;
  listen(): Promise<void>;
}
interface Client {
  readonly log: { add(action: Create, meta: { readonly sync: true }): Promise<unknown> };
  readonly node: { readonly connection: { connect(): void; disconnect(): void } };
  type(name: "slide/create", listener: (action: Create) => void): void;
  type(name: "slides/loaded", listener: (action: Loaded) => void): void;
  sync(action: Create | { readonly type: "logux/subscribe"; readonly channel: string }): Promise<unknown>;
  start(): void;
  destroy(): void;
}

const ALL = "slides";
/** As many rows are in an action of a first load. */
const LOADED = 1_000;

/** A deck is a channel, and a created slide an action. Server and client keep the rows in a map, as an app would in a store. */
export const logux: System = {
  async serve(installed, rows) {
    const { Server } = (await installed.import("@logux/server", "index.js")) as {
      Server: new (options: object) => Server;
    };
    const port = await freePort();
    const quiet = { debug() {}, info() {}, warn() {}, error: console.error, fatal: console.error };
    const server = new Server({ subprotocol: 1, minSubprotocol: 1, host: "127.0.0.1", port, logger: quiet });
    const slides = new Map([...slideRows(rows)].map((slide) => [slide.id, slide]));
    server.auth(() => true);
    server.channel(/^slides$|^deck\/.*$/, {
      access: () => true,
      load({ params: [channel] }) {
        const all = [...slides.values()].filter(({ deckId }) => channel === ALL || channel === `deck/${deckId}`);
        return Array.from({ length: Math.ceil(all.length / LOADED) }, (_, n) => ({
          type: "slides/loaded",
          slides: all.slice(n * LOADED, (n + 1) * LOADED),
        }));
      },
    });
    server.type("slide/create", {
      access: () => true,
      resend: (_, { slide: { deckId } }) => ({ channels: [ALL, `deck/${deckId}`] }),
      process: (_, { slide }) => void slides.set(slide.id, slide),
    });
    await server.listen();
    return { url: `ws://127.0.0.1:${port}` };
  },

  async connect(installed, url, deckId) {
    const { Client } = (await installed.import("@logux/client", "index.js")) as {
      Client: new (options: object) => Client;
    };
    const { Reconnect, WsConnection } = (await installed.import("@logux/core", "index.js")) as {
      Reconnect: new (connection: unknown) => unknown;
      WsConnection: new (url: string, type: unknown) => unknown;
    };
    const { WebSocket } = installed.require("ws") as { WebSocket: unknown };
    const server = new Reconnect(new WsConnection(url, WebSocket));
    const client = new Client({ subprotocol: 1, server, userId: "ann", allowDangerousProtocol: true });
    const slides = new Map<string, SlideRow>();
    let listener: ((id: string) => void) | undefined;
    client.type("slides/loaded", (action) => {
      for (const slide of action.slides) slides.set(slide.id, slide);
    });
    client.type("slide/create", ({ slide }) => {
      slides.set(slide.id, slide);
      listener?.(slide.id);
    });
    client.start();
    await client.sync({ type: "logux/subscribe", channel: deckId === undefined ? ALL : `deck/${deckId}` });
    const creating = (id: string, data: Slide): Create => ({ type: "slide/create", slide: { id, ...data } });
    return {
      write: (id, data) => client.sync(creating(id, data)),
      hear(next) {
        listener = next;
      },
      pause: () => client.node.connection.disconnect(),
      queue: (id, data) => client.log.add(creating(id, data), { sync: true }),
      resume: () => client.node.connection.connect(),
      has: (id) => slides.has(id),
      count: () => slides.size,
      async close() {
        client.destroy();
      },
    };
  },
};
