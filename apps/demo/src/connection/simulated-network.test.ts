import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SLOW_MS } from "./network-mode.ts";
import { setNetworkMode, simulateNetwork } from "./simulated-network.ts";

const server = "http://sync.example";
const straight = vi.fn(async (_: RequestInfo | URL) => new Response("answer"));

/** A socket as the browser's, that remembers what left it. */
class FakeSocket extends EventTarget {
  readonly OPEN = 1;
  readonly sent: unknown[] = [];
  isClosed = false;
  get readyState(): number {
    return this.isClosed ? 3 : this.OPEN;
  }
  send(data: unknown): void {
    this.sent.push(data);
  }
  close(): void {
    this.isClosed = true;
  }
  hears(data: string): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  straight.mockClear();
  vi.stubGlobal("fetch", straight);
  vi.stubGlobal("WebSocket", FakeSocket);
  simulateNetwork(server);
});
afterEach(() => {
  setNetworkMode("online");
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** How a request ends, when it does. */
const asked = (url: string, init?: RequestInit) => {
  const outcome = { is: "open" };
  fetch(url, init).then(
    () => (outcome.is = "answered"),
    (error: Error) => (outcome.is = error.name),
  );
  return outcome;
};

test("over a slow network a request takes a second there and a second back", async () => {
  setNetworkMode("slow");
  const outcome = asked(`${server}/v1/log`);
  await vi.advanceTimersByTimeAsync(SLOW_MS - 1);
  expect(straight).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(SLOW_MS);
  expect(straight).toHaveBeenCalledTimes(1);
  expect(outcome.is).toBe("open");
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome.is).toBe("answered");
});

test("a request that is called off on the way ends at once, and is not sent", async () => {
  setNetworkMode("slow");
  const off = new AbortController();
  const outcome = asked(`${server}/v1/log`, { signal: off.signal });
  off.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome.is).toBe("AbortError");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(straight).not.toHaveBeenCalled();
});

test.each([
  [0, "TypeError", 0],
  [0.5, "TypeError", 1],
  [0.9, "answered", 1],
])(
  "over a lossy network, with the random number %d, a request %s, and the server receives it %d times",
  async (roll, ends, times) => {
    setNetworkMode("lossy");
    vi.spyOn(Math, "random").mockReturnValue(roll);
    const outcome = asked(`${server}/v1/commits`, { method: "POST", body: "{}" });
    await vi.advanceTimersByTimeAsync(10);
    expect(outcome.is).toBe(ends);
    expect(straight).toHaveBeenCalledTimes(times);
  },
);

test.each(["slow", "lossy"] as const)("a %s network leaves requests to other servers alone", async (mode) => {
  setNetworkMode(mode);
  vi.spyOn(Math, "random").mockReturnValue(0);
  const outcome = asked("http://page.example/session");
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome.is).toBe("answered");
});

test("a slow socket sends and receives late and in order, even if the network becomes fast meanwhile", async () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  const heard: string[] = [];
  socket.addEventListener("message", (event) => heard.push((event as MessageEvent).data));
  socket.hears("at once");
  setNetworkMode("slow");
  socket.hears("first");
  await vi.advanceTimersByTimeAsync(SLOW_MS / 2);
  setNetworkMode("online");
  socket.hears("second");
  socket.send("mine");
  expect(heard).toEqual(["at once"]);
  expect(socket.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(SLOW_MS / 2);
  expect(heard).toEqual(["at once", "first", "second"]);
  expect(socket.sent).toEqual(["mine"]);
});

test("a slow socket that closes drops its unsent messages without an error", async () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  setNetworkMode("slow");
  socket.send("too late");
  socket.close();
  await vi.advanceTimersByTimeAsync(SLOW_MS);
  expect(socket.sent).toEqual([]);
});

test.each([
  [0, [], true],
  [0.5, ["call"], true],
  [0.9, ["call"], false],
])(
  "over a lossy network, with the random number %d, a call on a socket has the fate of a request",
  (roll, sent, breaks) => {
    setNetworkMode("lossy");
    vi.spyOn(Math, "random").mockReturnValue(roll);
    const socket = new WebSocket(server) as unknown as FakeSocket;
    socket.send('{"frame":"ping","n":1}');
    expect(socket.isClosed).toBe(false);
    socket.send('{"frame":"call","n":1,"name":"commitBulk","body":{}}');
    expect(socket.sent.slice(1).map((frame) => JSON.parse(String(frame)).frame)).toEqual(sent);
    expect(socket.isClosed).toBe(breaks);
  },
);

test("a lossy socket breaks by a low roll and loses nothing else", () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  setNetworkMode("lossy");
  vi.spyOn(Math, "random").mockReturnValueOnce(0.5).mockReturnValueOnce(0.05);
  socket.hears("one");
  expect(socket.isClosed).toBe(false);
  socket.hears("two");
  expect(socket.isClosed).toBe(true);
});
