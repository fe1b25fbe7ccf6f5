import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SLOW_MS } from "./line.ts";
import { roughenLine, setLine } from "./rough-line.ts";

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
  roughenLine(server);
});
afterEach(() => {
  setLine("online");
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

test("on a slow line a request takes a second there and a second back", async () => {
  setLine("slow");
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
  setLine("slow");
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
])("on a lossy line, by a roll of %d: %s, and the server is asked %d times", async (roll, ends, times) => {
  setLine("lossy");
  vi.spyOn(Math, "random").mockReturnValue(roll);
  const outcome = asked(`${server}/v1/commits`, { method: "POST", body: "{}" });
  await vi.advanceTimersByTimeAsync(10);
  expect(outcome.is).toBe(ends);
  expect(straight).toHaveBeenCalledTimes(times);
});

test.each(["slow", "lossy"] as const)("on a %s line what goes elsewhere is left alone", async (line) => {
  setLine(line);
  vi.spyOn(Math, "random").mockReturnValue(0);
  const outcome = asked("http://page.example/session");
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome.is).toBe("answered");
});

test("a slow socket says and hears late and in order, also when the line becomes quick meanwhile", async () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  const heard: string[] = [];
  socket.addEventListener("message", (event) => heard.push((event as MessageEvent).data));
  socket.hears("at once");
  setLine("slow");
  socket.hears("first");
  await vi.advanceTimersByTimeAsync(SLOW_MS / 2);
  setLine("online");
  socket.hears("second");
  socket.send("mine");
  expect(heard).toEqual(["at once"]);
  expect(socket.sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(SLOW_MS / 2);
  expect(heard).toEqual(["at once", "first", "second"]);
  expect(socket.sent).toEqual(["mine"]);
});

test("what a slow socket has not sent when it closes is lost, and nobody complains", async () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  setLine("slow");
  socket.send("too late");
  socket.close();
  await vi.advanceTimersByTimeAsync(SLOW_MS);
  expect(socket.sent).toEqual([]);
});

test("a lossy socket breaks by a low roll and loses nothing else", () => {
  const socket = new WebSocket(server) as unknown as FakeSocket;
  setLine("lossy");
  vi.spyOn(Math, "random").mockReturnValueOnce(0.5).mockReturnValueOnce(0.05);
  socket.hears("one");
  expect(socket.isClosed).toBe(false);
  socket.hears("two");
  expect(socket.isClosed).toBe(true);
});
