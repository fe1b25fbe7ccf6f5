import { afterEach, expect, test } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import type { StreamListener } from "../engine/ports.ts";
import { systemClock } from "../engine/system.ts";
import { logStream } from "./stream.ts";

/** A socket without a network, that fires the browser's own events. */
class Socket extends EventTarget {
  static made: Socket[] = [];
  readyState = 0;
  readonly sent: string[] = [];

  constructor() {
    super();
    Socket.made.push(this);
  }
  open() {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }
  send(text: string) {
    this.sent.push(text);
  }
  close() {
    this.readyState = 2;
  }
  /** What the other side does. */
  end(code: number, reason: string) {
    this.readyState = 3;
    this.dispatchEvent(new CloseEvent("close", { code, reason, wasClean: true }));
  }
  fail() {
    this.readyState = 3;
    this.dispatchEvent(new Event("error"));
    this.dispatchEvent(new CloseEvent("close", { code: 1006 }));
  }
}
afterEach(() => {
  Socket.made = [];
});

function listening() {
  const events: unknown[] = [];
  const listener: StreamListener = {
    opened: () => void events.push("opened"),
    frame: ({ frame }) => void events.push(frame),
    closed: (code, reason) => void events.push([code, reason]),
  };
  const stream = logStream({ url: location.origin, clock: systemClock, models: [], WebSocket: Socket });
  const socket = async (nth: number): Promise<Socket> => {
    await until(() => expect(Socket.made).toHaveLength(nth));
    return Socket.made[nth - 1] as Socket;
  };
  return { stream, listener, events, socket };
}

test("[N2] in a browser each failed attempt is reported once, with the server's code and reason", async () => {
  const { stream, listener, events, socket } = listening();
  stream.open(listener);
  (await socket(1)).open();
  Socket.made[0]?.dispatchEvent(new MessageEvent("message", { data: '{"frame":"pong","n":1}' }));
  Socket.made[0]?.end(4401, "token_expired");
  expect(events.splice(0)).toEqual(["opened", "pong", [4401, "token_expired"]]);
  stream.open(listener);
  (await socket(2)).fail();
  expect(events.splice(0)).toEqual([[4000, "The stream could not be opened, or was interrupted."]]);
  stream.open(listener);
  (await socket(3)).open();
  stream.send({ frame: "ping", n: 1 });
  expect(Socket.made[2]?.sent).toEqual(['{"frame":"ping","n":1}']);
  stream.close();
  Socket.made[2]?.end(1000, "");
  await giveTime(50);
  expect(events).toEqual(["opened"]);
  expect(Socket.made).toHaveLength(3);
});

test("[N2] a stream without an answer is reported as a close", async () => {
  const { listener, events } = listening();
  // A port that browsers refuse.
  const stream = logStream({ url: "http://127.0.0.1:9", clock: systemClock, models: [] });
  stream.open(listener);
  await until(() => expect(events).toHaveLength(1));
  expect(events).toEqual([[4000, expect.any(String)]]);
  stream.close();
});
