// Agents that hold claims and agents that wait for them, over plain HTTP: holders renew, waiters poll. Prints a line when all stand.
import { sendAsJson } from "../../../scripts/testing/ask-json.ts";

interface ClaimantsPlan {
  readonly url: string;
  readonly token: string;
  readonly held: number;
  readonly waiting: number;
}

interface Claim {
  readonly id: string;
  readonly status: string;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ClaimantsPlan;
const TTL_MS = 600_000;
const PER_HOLDER = 100;
const PER_LINE = 100;
const AT_ONCE = 32;
let stopped = false;
process.on("SIGTERM", () => {
  stopped = true;
  process.exit(0);
});

/** Comes again when it is told that the server is too busy, as every client does. */
async function request<T>(method: string, path: string, token: string, body?: object): Promise<T> {
  const answer = await sendAsJson(plan.url + path, token, method, body);
  if (answer.status === 503) {
    await answer.text();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return request(method, path, token, body);
  }
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Some at a time, in order. */
async function each<T, R>(items: readonly T[], work: (item: T, i: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map((item, i) => work(item, from + i)))));
  return results;
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

const agents = (prefix: string, count: number) =>
  each(numbers(count), async (i) => {
    const grant = { wideScope: true, participantId: `${prefix}${i}`, ttlSeconds: 86_400 };
    return (await request<{ token: string }>("POST", "/v1/capabilities", plan.token, grant)).token;
  });

const holders = await agents("holder", Math.ceil(plan.held / PER_HOLDER));
const waiters = await agents("waiter", plan.waiting);
await each(numbers(Math.ceil(plan.held / 100)), (n) =>
  request("POST", "/v1/commits/bulk", plan.token, {
    commits: numbers(100).map((i) => ({
      clientTxId: `claimed-${n}-${i}`,
      operations: [{ action: "create", model: "slide", id: `claimed-${n * 100 + i}`, data: { title: "A slide" } }],
    })),
  }),
);
const claims = await each(numbers(plan.held), async (i) => {
  const token = holders[i % holders.length] as string;
  return { token, ...(await request<Claim>("POST", `/v1/models/slide/claimed-${i}/claim`, token, { ttl: TTL_MS })) };
});
const places = await each(waiters, async (token, i) => {
  const record = `claimed-${Math.floor(i / PER_LINE)}`;
  return { token, ...(await request<Claim>("POST", `/v1/models/slide/${record}/claim`, token, { queue: true })) };
});
const wrong = [
  ...claims.filter(({ status }) => status !== "active"),
  ...places.filter(({ status }) => status !== "queued"),
];
if (wrong.length > 0) throw new Error(`${wrong.length} claims do not stand as they should.`);
process.stdout.write(`${JSON.stringify({ held: claims.length, waiting: places.length })}\n`);

/** Each waiter has a poll open all the time. */
async function poll({ token, id }: { token: string; id: string }): Promise<void> {
  while (!stopped) await request("GET", `/v1/claims/${id}?wait=25000`, token);
}
/** Each claim once in a third of its time, evenly. */
async function renew(): Promise<void> {
  const pauseMs = TTL_MS / 3 / claims.length;
  for (let n = 0; !stopped; n = (n + 1) % claims.length) {
    const { id, token } = claims[n] as (typeof claims)[number];
    await Promise.all([
      request("POST", `/v1/claims/${id}/renew`, token),
      new Promise((resolve) => setTimeout(resolve, pauseMs)),
    ]);
  }
}
await Promise.all([renew(), ...places.map(poll)]);
