import { setTimeout as pause } from "node:timers/promises";
import { oneOf, orNull, position, someText, time } from "../assertions/pattern.ts";
import { NotApplicable, shown, Unmet } from "../assertions/unmet.ts";
import { HOOK, QUIET } from "../environment/models.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { type Answer, type AskOptions, positionOf, type Row } from "../protocol/answers.ts";
import { type Delivery, type HookEvent, openReceiver, type Receiver } from "../transport/receiver.ts";
import type { CreatedRecord, Kit } from "./kit.ts";

export const ENDPOINTS = "/v1/webhook_endpoints";
export const hooks = `/v1/models/${HOOK}`;

export interface Endpoint {
  readonly id: string;
  readonly path: string;
  readonly secret: string;
  /** The answer to the registration. */
  readonly body: Row;
}

/** All fields of an endpoint, as every answer has them. */
export const endpointShape = {
  object: "webhook_endpoint",
  id: /^we_[0-9A-Za-z]{24}$/,
  url: someText,
  status: oneOf("enabled", "disabled"),
  enabledEvents: oneOf(["*"], [QUIET], [HOOK]),
  description: orNull(someText),
  cursor: position,
  lag: position,
  attempt: position,
  nextAttemptAt: orNull(time),
  lastError: orNull({ code: someText }),
  lastSuccessAt: orNull(time),
  disabledReason: orNull(someText),
  secretLast4: /^.{4}$/,
  createdAt: time,
} as const;

/** Every route of an endpoint, with a valid body. */
export const endpointRoutes: readonly (readonly [method: string, rest: string, json?: object])[] = [
  ["GET", ""],
  ["PATCH", "", { description: "x" }],
  ["DELETE", ""],
  ["POST", "/roll_secret"],
  ["POST", "/enable"],
  ["POST", "/disable"],
  ["POST", "/test"],
  ["POST", "/skip", { to: 1 }],
  ["GET", "/attempts"],
];

const NO_ROOM = "the tenant has twenty endpoints already, so the suite cannot register one";

/** Registers an endpoint, which is removed when the case ends. */
export async function register(t: Kit, body: Row, options: AskOptions = {}): Promise<Endpoint> {
  const answer = await t.post(ENDPOINTS, body, options);
  if (answer.body.code === "too_many_endpoints") throw new NotApplicable(NO_ROOM);
  t.answered(answer, 201, { object: "webhook_endpoint", id: /^we_/, secret: /^whsec_/ });
  const { id, secret } = answer.body as { id: string; secret: string };
  const path = `${ENDPOINTS}/${id}`;
  t.after(() => t.environment.ask("DELETE", path, options));
  return { id, path, secret, body: answer.body };
}

/** An endpoint that gets no request: its host does not exist (RFC 2606), and no case writes its model. */
export const quiet = (more: Row = {}): Row => ({
  url: "https://conformance.invalid/hooks",
  enabledEvents: [QUIET],
  ...more,
});

/** A disabled endpoint, whose cursor does not move. */
export async function stopped(t: Kit, body: Row): Promise<Endpoint> {
  const endpoint = await register(t, body);
  t.answered(await t.post(`${endpoint.path}/disable`), 201, { status: "disabled" });
  return endpoint;
}

/** A receiver that closes when the case ends. If the server cannot reach one, the case does not apply. */
export async function receiving(t: Kit): Promise<Receiver> {
  const why = await whyNoReceiver(t.environment);
  if (why !== undefined) throw new NotApplicable(why);
  const receiver = await openReceiver();
  t.after(() => receiver.end());
  return receiver;
}

/** A receiver and its endpoint, which subscribes to the model HOOK, unless the body names others. */
export async function hooked(t: Kit, body: Row = {}, options: AskOptions = {}) {
  const receiver = await receiving(t);
  const endpoint = await register(t, { url: receiver.url, enabledEvents: [HOOK], ...body }, options);
  return { receiver, endpoint };
}

/** A new record of the model HOOK, whose changes go to receivers. */
export async function hook(t: Kit, data: Row = {}, options: AskOptions = {}, id = t.id()): Promise<CreatedRecord> {
  const { deckId, group } = t.deck();
  const made = t.answered(await t.post(hooks, { id, data: { deckId, title: "one", ...data } }, options), 200);
  return { id, deckId, group, path: `${hooks}/${id}`, at: positionOf(made) };
}

/** The events of these records, in order of arrival. Other cases write too, and their events arrive as well. */
export const eventsOf = (deliveries: readonly Delivery[], ...ids: readonly string[]): readonly HookEvent[] =>
  deliveries.flatMap(({ events }) => events).filter(({ objectId }) => ids.includes(objectId));

export const syncIds = (deliveries: readonly Delivery[]) =>
  deliveries.flatMap(({ events }) => events.map(({ syncId }) => syncId));

export const carries =
  (id: string) =>
  ({ events }: Delivery): boolean =>
    events.some(({ objectId }) => objectId === id);

/** Waits for the first delivery that carries a change of this record. */
export const deliveryOf = (receiver: Receiver, id: string, withinMs?: number): Promise<Delivery> =>
  receiver.until(`an event of ${id}`, (all) => all.find(carries(id)), withinMs);

/** Repeats a request until its answer is as expected. */
export async function eventually(
  ask: () => Promise<Answer>,
  expected: string,
  isSo: (body: Row) => boolean,
  withinMs = 30_000,
): Promise<Answer> {
  for (const end = performance.now() + withinMs; ; ) {
    const answer = await ask();
    if (answer.status === 200 && isSo(answer.body)) return answer;
    if (performance.now() > end) throw new Unmet(`${expected} within ${withinMs} ms`, shown(answer.body), answer);
    await pause(60);
  }
}

/** Waits until the endpoint's cursor is at a position, or beyond it. */
export const reaches = (t: Kit, { path }: Endpoint, position: number): Promise<Answer> =>
  eventually(
    () => t.get(path),
    `a cursor from ${position}`,
    ({ cursor }) => Number(cursor) >= position,
  );

/** Disables an endpoint and waits until its last delivery is done: only then does a test succeed. Returns the test's answer. */
export async function settle(t: Kit, { path }: Endpoint): Promise<Answer> {
  t.answered(await t.post(`${path}/disable`), 201, { status: "disabled" });
  for (const end = performance.now() + 5_000; ; ) {
    const answer = await t.post(`${path}/test`);
    if (answer.body.code !== "endpoint_busy" || performance.now() > end) return t.answered(answer, 201);
    await pause(60);
  }
}

/** Whether the server accepts an endpoint on loopback. The suite finds out once per run. */
export function allowsPrivate(environment: TestEnvironment): Promise<boolean> {
  const known = answers.get(environment) ?? tryLoopback(environment);
  answers.set(environment, known);
  return known;
}

const answers = new WeakMap<TestEnvironment, Promise<boolean>>();

async function tryLoopback({ ask }: TestEnvironment): Promise<boolean> {
  const json = { url: "http://127.0.0.1:9999/", enabledEvents: [QUIET] };
  const answer = await ask("POST", ENDPOINTS, { json });
  const { id, code } = answer.body;
  if (answer.status === 201) await ask("DELETE", `${ENDPOINTS}/${id}`);
  if (answer.status === 201) return true;
  if (answer.status === 400 && (code === "blocked_address" || code === "invalid_url")) return false;
  if (code === "too_many_endpoints") throw new NotApplicable(NO_ROOM);
  throw new Unmet("http://127.0.0.1:9999/ to be registered, or refused for its address", shown(answer.body), answer);
}

async function whyNoReceiver(environment: TestEnvironment): Promise<string | undefined> {
  const { hostname } = new URL(environment.url);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname))
    return "the server is on another machine: it cannot reach a receiver on this one";
  return (await allowsPrivate(environment)) ? undefined : "the server sends nothing to private addresses";
}
