import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { isNoResponse, send, type Wire } from "../fuzz/exchange/wire.ts";
import { envelopeFaults } from "../fuzz/judge/judge.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { ODD_ROWS } from "./sql-writer.ts";

/** All that a tenant's own clients can ask while its values are odd. */
export interface TenantRequests {
  /** How often what was asked was answered, by kind and status. */
  readonly answers: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  /** The longest time in which a small record could not be read. */
  readonly longestUnreadableMs: number;
  finish(): Promise<void>;
}

export interface Tenant {
  readonly name: string;
  readonly url: string;
  readonly token: string;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly json?: object;
}
type MakeRequest = (chance: SeededRandom) => Asked;

const get = (path: string): Asked => ({ method: "GET", path });
const query = (json: object): Asked => ({ method: "POST", path: "/v1/models/paper/query", json });
const FIELDS = [
  "title",
  "body",
  "note",
  "doc",
  "raw",
  "tags",
  "digits",
  "amount",
  "ratio",
  "at",
  "day",
  "stamp",
  "feeling",
];
const COUNTED = ["title", "tags", "amount", "ratio", "at", "feeling", "doc"];
const sorted = (chance: SeededRandom) => `order_by=${chance.oneOf(FIELDS)}&order=${chance.oneOf(["asc", "desc"])}`;
const anId = (chance: SeededRandom) => chance.oneOf([`h${chance.below(ODD_ROWS + 1)}`, `s${chance.below(51)}`, "m1"]);
let writes = 0;

/** Of a tenant with an attached table. */
export const TABLE_REQUESTS: Readonly<Record<string, MakeRequest>> = {
  record: (chance) => get(`/v1/models/paper/${anId(chance)}`),
  list: (chance) => get(`/v1/models/paper?limit=${chance.oneOf([1, 10, 100])}`),
  sortedList: (chance) => get(`/v1/models/paper?limit=100&${sorted(chance)}`),
  listById: (chance) => get(`/v1/models/paper?ids=s1,${anId(chance)},${anId(chance)}`),
  filteredList: (chance) =>
    get(
      `/v1/models/paper?${chance.oneOf(["filter[title][contains]=x", "filter[body][search]=text", "filter[amount][gte]=1", "filter[at][lte]=2026-01-01T00:00:00Z", "filter[tags][contains]=x", "filter[ratio][null]=true", "filter[feeling]=good", "filter[note][not]=x"])}`,
    ),
  count: (chance) => query({ limit: 0, count: true, countBy: chance.oneOf(COUNTED) }),
  search: (chance) => query({ limit: 100, where: { [chance.oneOf(["title", "body", "note"])]: { contains: "mall" } } }),
  sortedQuery: (chance) => query({ limit: 100, orderBy: chance.oneOf(FIELDS), order: chance.oneOf(["asc", "desc"]) }),
  snapshot: () => get("/v1/snapshot"),
  snapshotPage: (chance) => get(`/v1/snapshot?model=paper&limit=${chance.oneOf([1, 10, 1_000])}`),
  part: () => get(`/v1/snapshot?where=${encodeURIComponent(JSON.stringify({ paper: { title: "Small 7" } }))}`),
  log: (chance) => get(`/v1/log?after=${chance.below(100)}&limit=${chance.oneOf([1, 100, 1_000])}`),
  history: (chance) => get(`/v1/models/paper/${anId(chance)}/history`),
  schema: () => get("/v1/schema"),
  webhooks: () => get("/v1/webhook_endpoints"),
  update: (chance) => ({
    method: "PATCH",
    path: `/v1/models/paper/${anId(chance)}`,
    json: { data: { title: "By a client" } },
  }),
  create: () => ({
    method: "POST",
    path: "/v1/models/paper",
    json: { id: `m${writes++ % 50}`, data: { title: "By a client" } },
  }),
  remove: (chance) => ({ method: "DELETE", path: `/v1/models/paper/h${chance.below(ODD_ROWS)}` }),
};

/** Of a tenant whose tasks are behind an endpoint, and whose slides are not. */
export const SOURCE_REQUESTS: Readonly<Record<string, MakeRequest>> = {
  task: (chance) => get(`/v1/models/task/k${chance.below(250)}`),
  tasks: () => get("/v1/models/task?limit=100"),
  writeTask: () => ({
    method: "POST",
    path: "/v1/models/task",
    json: { id: `t${writes++}`, data: { title: "By a client" } },
  }),
  changeTask: (chance) => ({
    method: "PATCH",
    path: `/v1/models/task/k${chance.below(250)}`,
    json: { data: { title: `${writes++}` } },
  }),
  snapshot: () => get("/v1/snapshot"),
  log: () => get("/v1/log?limit=100"),
  source: () => get("/v1/datasources"),
  schema: () => get("/v1/schema"),
  attempts: () => get("/v1/webhook_endpoints"),
};

const PAUSE_MS = 20;
const PROBE_MS = 200;
const LONGEST_UNREADABLE_MS = 30_000;

export interface RequestsPlan {
  readonly tenant: Tenant;
  readonly requests: Readonly<Record<string, MakeRequest>>;
  /** A record that has to be read all the while. */
  readonly small: string;
  readonly seed: number;
  readonly lanes: number;
  isOn(): boolean;
}

export function startRequests({ tenant, requests, small, seed, lanes, isOn }: RequestsPlan): TenantRequests {
  const agent = new Agent({ keepAlive: true });
  const answers = new Map<string, number>();
  const violations: string[] = [];
  let [isOver, longestUnreadableMs] = [false, 0];

  async function ask(kind: string, asked: Asked): Promise<number | undefined> {
    const { method, path, json } = asked;
    const headers: [string, string][] = [["authorization", `Bearer ${tenant.token}`]];
    if (json) headers.push(["content-type", "application/json"]);
    const wire: Wire = { method, target: path, headers, body: json && Buffer.from(JSON.stringify(json)) };
    const answer = await send(agent, tenant.url, wire);
    const outcome = isNoResponse(answer) ? answer.silence : `${answer.status}${codeIn(answer.text, answer.status)}`;
    const name = `${kind} ${outcome}`;
    answers.set(name, (answers.get(name) ?? 0) + 1);
    for (const fault of faultsOf(answer))
      violations.push(`${tenant.name}: ${method} ${path} ${JSON.stringify(json ?? null)} → ${outcome}: ${fault}`);
    return isNoResponse(answer) ? undefined : answer.status;
  }

  function faultsOf(answer: Awaited<ReturnType<typeof send>>): string[] {
    if (isNoResponse(answer)) return ["no answer"];
    const { status, text, headers } = answer;
    if (status < 400) return [];
    const envelope = parsed(text);
    // Of a record that is too large to be read, the code that writes have at 400 is 413.
    const told = status === 413 && /"record_too_large"/.test(text) ? undefined : status;
    const faults = envelopeFaults(envelope, told, String(headers["x-request-id"]), tenant.url);
    return status === 500 ? [...faults, text.slice(0, 300)] : faults;
  }

  async function lane(chance: SeededRandom): Promise<void> {
    while (!isOver) {
      const kind = chance.oneOf(Object.keys(requests));
      if (isOn()) await ask(kind, (requests[kind] as MakeRequest)(chance));
      await pause(PAUSE_MS);
    }
  }

  async function probe(): Promise<void> {
    let readAt = performance.now();
    while (!isOver) {
      if ((await ask("small", get(small))) === 200) readAt = performance.now();
      const unreadableMs = performance.now() - readAt;
      longestUnreadableMs = Math.max(longestUnreadableMs, unreadableMs);
      await pause(PROBE_MS);
    }
    if (longestUnreadableMs > LONGEST_UNREADABLE_MS)
      violations.push(`${tenant.name}: ${small} could not be read for ${Math.round(longestUnreadableMs)} ms`);
  }

  const running = [probe(), ...Array.from({ length: lanes }, (_, n) => lane(SeededRandom.of(seed, n)))];
  return {
    answers,
    violations,
    get longestUnreadableMs() {
      return longestUnreadableMs;
    },
    async finish() {
      isOver = true;
      await Promise.all(running);
      agent.destroy();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeIn(text: string, status: number): string {
  if (status < 400) return "";
  return ` ${/"code":"([a-z_]+)"/.exec(text)?.[1] ?? "without a code"}`;
}
