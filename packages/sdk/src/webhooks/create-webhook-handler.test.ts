import fc from "fast-check";
import { afterEach, expect, expectTypeOf, test, vi } from "vitest";
import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";
import { createWebhookHandler, type WebhookHandler, type WebhookHandlerOptions } from "./create-webhook-handler.ts";
import { memoryPosition } from "./position-store.ts";
import { signWebhook } from "./signature.ts";
import { schema, secret, slideUpdated, testEvent } from "./testing/deliveries.ts";

async function post(handler: WebhookHandler, events: readonly object[], change: RequestInit = {}, logId = "log_1") {
  const body = JSON.stringify({ data: events, logId });
  const headers = await signWebhook({ secret, id: "msg_1", body });
  const response = await handler.fetch(new Request("http://receiver/", { method: "POST", body, headers, ...change }));
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => slideUpdated(from + at));

/** A receiver that records the events and the errors that it gets. */
function receiver(options: Partial<WebhookHandlerOptions<never>> = {}) {
  const seen: number[] = [];
  const errors: [unknown, unknown][] = [];
  const store = memoryPosition();
  const handler = createWebhookHandler({
    secret,
    store,
    onEvent: (event: WebhookEvent) => void seen.push(event.syncId),
    onError: (error, delivery) => void errors.push([error, delivery]),
    ...(options as object),
  });
  return { handler, seen, errors, store };
}

/** From now on time passes only where a test lets it pass: `await vi.advanceTimersByTimeAsync(30)` is work that takes 30 ms. */
const stopTime = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
afterEach(() => {
  vi.useRealTimers();
});

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
};

test("[W52] a position of one log skips no event of another, and is recorded for that log from then on", async () => {
  const handed: unknown[] = [];
  const { handler, seen, store } = receiver({
    onEvent: (event: WebhookEvent, { logId }: { logId: string }) => {
      seen.push(event.syncId);
      handed.push(logId);
    },
  } as object);
  const send = async (events: readonly object[], logId?: string) => (await post(handler, events, {}, logId)).body;
  expect(await send(range(1, 5), "log_1")).toMatchObject({ applied: 5, known: 0 });
  expect(await send(range(4, 6), "log_1")).toMatchObject({ applied: 1, known: 2 });
  // Restored, with an end at 3: 4 and 5 were given once more.
  expect(await send(range(4, 5), "log_2")).toMatchObject({ applied: 2, known: 0 });
  expect(await send(range(3, 6), "log_2")).toMatchObject({ applied: 1, known: 3 });
  expect(store.read()).toEqual({ syncId: 6, logId: "log_2" });
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 4, 5, 6]);
  expect(handed).toEqual([...Array(6).fill("log_1"), ...Array(3).fill("log_2")]);
});

test("[W52] a store that keeps only a number skips by position alone", async () => {
  let position = 0;
  const { handler } = receiver({ store: { read: () => position, write: (syncId) => (position = syncId) } });
  expect((await post(handler, range(1, 5), {}, "log_1")).body).toMatchObject({ applied: 5 });
  expect((await post(handler, range(4, 6), {}, "log_2")).body).toMatchObject({ applied: 1, known: 2 });
});

test("[W44] events are handed over in the order of the log, and those that are known are skipped", async () => {
  const { handler, seen, store } = receiver();
  expect(await post(handler, [slideUpdated(3), slideUpdated(1), slideUpdated(2), slideUpdated(2)])).toMatchObject({
    status: 200,
    body: { applied: 3, known: 1 },
  });
  expect(await post(handler, range(2, 5))).toMatchObject({ status: 200, body: { applied: 2, known: 2 } });
  expect(await post(handler, range(1, 5))).toMatchObject({ status: 200, body: { applied: 0, known: 5 } });
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(store.read()).toEqual({ syncId: 5, logId: "log_1" });
});

test("[W44] the store moves after each event and no sooner", async () => {
  const calls: string[] = [];
  const { handler } = receiver({
    store: {
      // Databases give large numbers as text.
      read: async () => "1" as unknown as number,
      write: async (syncId) => {
        await Promise.resolve();
        calls.push(`write ${syncId}`);
      },
    },
    onEvent: async (event: WebhookEvent) => {
      await Promise.resolve();
      calls.push(`event ${event.syncId}`);
    },
  });
  expect((await post(handler, range(1, 3))).status).toBe(200);
  expect(calls).toEqual(["event 2", "write 2", "event 3", "write 3"]);
});

test("[W44] deliveries that overlap wait for each other", async () => {
  const first = gate();
  const running = new Set<number>();
  const { handler, seen } = receiver({
    onEvent: async ({ syncId }: WebhookEvent) => {
      running.add(syncId);
      expect(running.size).toBe(1);
      if (syncId === 1) await first.opened;
      seen.push(syncId);
      running.delete(syncId);
    },
  });
  const answers = [post(handler, range(1, 3))];
  await until(() => expect(running).toContain(1));
  answers.push(post(handler, range(1, 5)), post(handler, range(4, 6)));
  await giveTime(20);
  expect(seen).toEqual([]);
  first.open();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});

test("[W44] with random failures, cuts and repeats each event is handled once, in order, and none is left out", async () => {
  const step = fc.record({ size: fc.integer({ min: 1, max: 4 }), again: fc.boolean(), fails: fc.nat(5) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      let failsIn = 0;
      const { handler, seen } = receiver({
        onEvent: async ({ syncId }: WebhookEvent) => {
          await Promise.resolve();
          if (failsIn > 0 && --failsIn === 0) throw new Error("on purpose");
          seen.push(syncId);
        },
      });
      // A sender as ours: the cursor moves after a 2xx only; now and then the answer is lost, or two are under way at once.
      let cursor = 0;
      for (const { size, again, fails } of steps) {
        const events = range(cursor + 1, cursor + size);
        failsIn = fails;
        const [first] = await Promise.all([post(handler, events), ...(again ? [post(handler, events)] : [])]);
        if (first?.status === 200 && !again) cursor += size;
      }
      failsIn = 0;
      expect((await post(handler, range(cursor + 1, cursor + 4))).status).toBe(200);
      expect(seen).toEqual(Array.from({ length: cursor + 4 }, (_, at) => at + 1));
    }),
  );
});

test("[W45] at the time limit the handler finishes the current event, and the service delivers the rest again", async () => {
  stopTime();
  const { handler, seen } = receiver({
    timeLimitMs: 50,
    onEvent: async ({ syncId }: WebhookEvent) => {
      await vi.advanceTimersByTimeAsync(30);
      seen.push(syncId);
    },
  });
  const cut = await post(handler, range(1, 10));
  expect(cut.status).toBe(503);
  expect(cut.headers.get("retry-after")).toBe("1");
  expect(cut.body).toEqual({
    code: "out_of_time",
    message: "The receiver ran out of time. The next delivery continues with event 3.",
  });
  expect(seen).toEqual([1, 2]);
  for (let tries = 0; tries < 10 && (await post(handler, range(1, 10))).status !== 200; tries += 1);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("[W45] work that never yields is cut too, and one event is always applied", async () => {
  let now = 0;
  // Time passes, and no timer rings.
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const { handler, seen } = receiver({
    timeLimitMs: 10_000,
    onEvent: ({ syncId }: WebhookEvent) => {
      now += 10_010;
      seen.push(syncId);
    },
  });
  expect((await post(handler, range(1, 3))).status).toBe(503);
  expect(seen).toEqual([1]);
});

test("[W45] a store that takes all the time leaves some for one event", async () => {
  stopTime();
  let position = 0;
  const { handler, seen } = receiver({
    timeLimitMs: 20,
    store: {
      read: async () => {
        await vi.advanceTimersByTimeAsync(40);
        return position;
      },
      write: (syncId) => {
        position = syncId;
      },
    },
  });
  const statuses: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) statuses.push((await post(handler, range(1, 3))).status);
  expect(seen).toEqual([1, 2, 3]);
  expect(statuses).toEqual([503, 503, 200]);
});

test("[W45] a delivery whose turn does not come in time is answered, and not worked on later", async () => {
  stopTime();
  const first = gate();
  let hasBegun = false;
  const { handler, seen } = receiver({
    timeLimitMs: 1_000,
    onEvent: async ({ syncId }: WebhookEvent) => {
      hasBegun = true;
      if (syncId === 1) await first.opened;
      seen.push(syncId);
    },
  });
  const slow = post(handler, range(1, 2));
  await until(() => expect(hasBegun).toBe(true));
  // Its time passes while `until` waits.
  let waiting: Awaited<ReturnType<typeof post>> | undefined;
  void post(handler, range(1, 4)).then((answer) => {
    waiting = answer;
  });
  await until(() => waiting !== undefined);
  expect(waiting).toMatchObject({ status: 503, body: { code: "busy" } });
  expect(waiting?.headers.get("retry-after")).toBe("1");
  first.open();
  // It was at its first event when time was over: that one is finished, and no other begun.
  expect(await slow).toMatchObject({ status: 503, body: { code: "out_of_time" } });
  await giveTime(20);
  expect(seen).toEqual([1]);
  expect((await post(handler, range(1, 4))).status).toBe(200);
  expect(seen).toEqual([1, 2, 3, 4]);
});

test("[W46] an event that cannot be applied is reported and answered with 500, and is the first of the next attempt", async () => {
  let isBroken = true;
  const { handler, seen, errors, store } = receiver({
    onEvent: ({ syncId }: WebhookEvent) => {
      if (syncId === 2 && isBroken) throw new Error("password=hunter2");
      seen.push(syncId);
    },
  });
  const refused = await post(handler, range(1, 3));
  expect(refused).toMatchObject({ status: 500, body: { code: "failed", message: "Event 2 could not be applied." } });
  expect(JSON.stringify(refused.body)).not.toContain("hunter2");
  expect(errors).toEqual([[new Error("password=hunter2"), { webhookId: "msg_1", syncId: 2 }]]);
  expect(store.read()).toEqual({ syncId: 1, logId: "log_1" });
  isBroken = false;
  expect((await post(handler, range(1, 3))).body).toEqual({ applied: 2, known: 1 });
  expect(seen).toEqual([1, 2, 3]);
});

test.each([
  ["read rejects", { read: () => Promise.reject(new Error("no disk")), write: () => {} }],
  ["read gives no position", { read: () => "x" as unknown as number, write: () => {} }],
  ["write rejects", { read: () => 0, write: () => Promise.reject(new Error("no disk")) }],
])("[W46] a store whose %s is 500, and told", async (_, store) => {
  const { handler, errors } = receiver({ store });
  expect(await post(handler, range(1, 2))).toMatchObject({ status: 500, body: { code: "failed" } });
  expect(errors).toHaveLength(1);
  // The next one has its turn all the same.
  expect((await post(handler, range(1, 2))).status).toBe(500);
});

test("[W46] without onError the error is logged to the console, and an onError that throws changes nothing", async () => {
  const onConsole = vi.spyOn(console, "error").mockImplementation(() => {});
  const onEvent = () => {
    throw new Error("on purpose");
  };
  expect((await post(createWebhookHandler({ secret, onEvent }), range(1, 1))).status).toBe(500);
  expect(onConsole).toHaveBeenCalledTimes(1);
  const onError = () => {
    throw new Error("and again");
  };
  for (const listener of [onError, async () => onError()])
    expect((await post(createWebhookHandler({ secret, onEvent, onError: listener }), range(1, 1))).status).toBe(500);
});

test("[W47] a test event is answered and not handed over", async () => {
  const { handler, seen, store } = receiver();
  expect(await post(handler, [testEvent(41)])).toMatchObject({ status: 200, body: { applied: 0, known: 0 } });
  expect(await post(handler, range(1, 2))).toMatchObject({ status: 200, body: { applied: 2 } });
  expect(seen).toEqual([1, 2]);
  expect(store.read()).toEqual({ syncId: 2, logId: "log_1" });
});

test("[W42] an unsigned delivery is refused, with the reason, and no event is passed on", async () => {
  const { handler, seen, errors } = receiver();
  expect(
    await post(handler, range(1, 1), { body: JSON.stringify({ data: range(1, 2), logId: "log_1" }) }),
  ).toMatchObject({
    status: 401,
    body: { code: "signature_mismatch" },
  });
  expect(await post(handler, range(1, 1), { headers: {} })).toMatchObject({
    status: 400,
    body: { code: "missing_header", message: "The header webhook-id is missing." },
  });
  const old = await signWebhook({ secret, id: "msg_1", body: "{}", now: Date.now() - 301_000 });
  expect(await post(handler, [], { headers: old, body: "{}" })).toMatchObject({
    status: 401,
    body: { code: "timestamp_too_old" },
  });
  const odd = await signWebhook({ secret, id: "msg_1", body: "{}" });
  expect(await post(handler, [], { headers: odd, body: "{}" })).toMatchObject({
    status: 400,
    body: { code: "invalid_body" },
  });
  expect(seen).toEqual([]);
  expect(errors).toEqual([]);
});

test("[W42] a secret that cannot be one is said when the handler is made", () => {
  expect(() => createWebhookHandler({ secret: "whsec_?", onEvent: () => {} })).toThrow(
    "as the registration returned it",
  );
  expect(() => createWebhookHandler({ secret: [], onEvent: () => {} })).toThrow("The signing secret is missing.");
});

test("[W48] a Request of the web: limit, method, a body that was read", async () => {
  const { handler, seen, errors } = receiver({ bodyLimit: 1_000 });
  const large = { data: "x".repeat(1_001) };
  const parts = new ReadableStream({
    start(controller) {
      for (let at = 0; at < 11; at += 1) controller.enqueue(new TextEncoder().encode("x".repeat(100)));
      controller.close();
    },
  });
  for (const body of [JSON.stringify(large), parts])
    expect(await post(handler, [], { body, duplex: "half" } as RequestInit)).toMatchObject({
      status: 413,
      body: { code: "body_too_large", message: "The body has more than 1000 bytes." },
    });
  const response = await handler.fetch(new Request("http://receiver/"));
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
  const body = JSON.stringify({ data: range(1, 1), logId: "log_1" });
  const read = new Request("http://receiver/", {
    method: "POST",
    body,
    headers: await signWebhook({ secret, id: "m", body }),
  });
  await read.json();
  const refused = await handler.fetch(read);
  expect([refused.status, await refused.json()]).toMatchObject([500, { code: "body_not_raw" }]);
  expect(errors).toHaveLength(1);
  expect(seen).toEqual([]);
});

test("[W48] a body that breaks off is 400", async () => {
  const { handler } = receiver();
  const body = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
  expect(await post(handler, [], { body, duplex: "half" } as RequestInit)).toMatchObject({
    status: 400,
    body: { code: "body_cut_off" },
  });
});

test("[W43] the handler's events are typed by the schema, and other models are passed over", async () => {
  const titles: (string | undefined)[] = [];
  const handler = createWebhookHandler({
    secret,
    schema,
    onEvent: (event) => {
      expectTypeOf(event.model).toEqualTypeOf<"Slide" | "deck">();
      if (event.model === "Slide") titles.push(event.data?.title);
      if (event.type === "deck.deleted") expectTypeOf(event.data).toEqualTypeOf<null>();
    },
  });
  const other = { ...slideUpdated(2), model: "Other" };
  expect(await post(handler, [slideUpdated(1), other])).toMatchObject({ status: 200, body: { applied: 1 } });
  expect(titles).toEqual(["Title 1"]);
});

test.each([Number.NaN, null, "5", -1])("[PK15] a handler refuses %s as a number", (given) => {
  for (const name of ["bodyLimit", "timeLimitMs", "toleranceMs"])
    expect(() => receiver({ [name]: given })).toThrow(`${name} must be a number`);
});
