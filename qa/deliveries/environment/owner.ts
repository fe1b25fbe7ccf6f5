import { type Answer, good, type SendRequest } from "../../support/requester.ts";
import type { Action, Endpoint } from "../judge/evidence.ts";
import { monotonic } from "../receiver/recording.ts";

/** An endpoint and all actions of its owner. */
export interface Owned {
  readonly hook: string;
  readonly url: string;
  readonly id: string;
  readonly cursor: number;
  readonly models: readonly string[];
  readonly made: Endpoint["made"];
  readonly actions: Action[];
  /** In the order in which they were made. */
  readonly secrets: string[];
  /** How often it was moved. */
  moves: number;
  /** A new secret may exist whose response has not arrived yet. */
  rolling: boolean;
  removed: boolean;
}

export interface View {
  readonly id: string;
  readonly status: "enabled" | "disabled";
  readonly cursor: number;
  readonly lag: number;
  readonly attempt: number;
  readonly disabledReason: string | null;
  readonly lastError: { readonly code: string; readonly from: number; readonly to: number } | null;
}

type Undone<A> = A extends Action ? Omit<A, "asked" | "answered"> : never;

export interface Owner {
  readonly owned: readonly Owned[];
  /** Made by registrations whose response was lost, and removed again. Their secrets are unknown. */
  readonly orphans: ReadonlySet<string>;
  register(hook: string, url: string, models?: readonly string[], from?: number): Promise<Owned>;
  /** Returns the server's response if it refused. */
  act(endpoint: Owned, action: Undone<Action>): Promise<Answer | undefined>;
  /** Pushes the schema, which affects all endpoints. */
  push(schema: object): Promise<void>;
  test(endpoint: Owned): Promise<Answer>;
  list(): Promise<readonly View[]>;
  view(endpoint: Owned): Promise<View>;
  attempts(endpoint: Owned): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const ENDPOINTS = "/v1/webhook_endpoints";

/** Makes one change at a time, and records the period in which it took effect. */
export function createOwner(request: SendRequest): Owner {
  const owned: Owned[] = [];
  const orphans = new Set<string>();

  async function remember(endpoint: Owned, action: Undone<Action>): Promise<Answer | undefined> {
    const path = `${ENDPOINTS}/${endpoint.id}`;
    const asked = monotonic();
    if (action.what === "move") endpoint.moves += 1;
    const answer = await requestChange(path, action, endpoint);
    // It was removed by a request whose response was lost.
    const isGone = action.what === "remove" && answer.status === 404;
    if (answer.status > 299 && !isGone) {
      // The first of several attempts may have taken effect.
      if (answer.lost > 0) endpoint.actions.push({ ...action, asked, answered: monotonic() } as Action);
      return answer;
    }
    endpoint.actions.push({
      ...action,
      asked,
      answered: monotonic(),
      ...(action.what === "roll" && answer.lost > 0 && { lost: true }),
    } as Action);
    if (action.what === "roll") endpoint.secrets.push(String(answer.body.secret));
    if (action.what === "remove") endpoint.removed = true;
    return undefined;
  }

  function requestChange(path: string, action: Undone<Action>, { url, moves }: Owned): Promise<Answer> {
    switch (action.what) {
      case "subscribe":
        return request("PATCH", path, { enabledEvents: action.models });
      case "move":
        return request("PATCH", path, { url: `${url}?move=${moves}` });
      case "roll":
        return request("POST", `${path}/roll_secret`);
      case "remove":
        return request("DELETE", path);
      case "skip":
        return request("POST", `${path}/skip`, { to: action.to });
      case "enable":
      case "disable":
        return request("POST", `${path}/${action.what}`);
      case "push":
        throw new Error("A push is for all endpoints.");
    }
  }

  return {
    owned,
    orphans,
    async register(hook, url, models = ["*"], from) {
      const asked = monotonic();
      const body = { url, enabledEvents: models, ...(from !== undefined && { from }) };
      const answer = await request("POST", ENDPOINTS, body);
      const { id, cursor, secret } = good(answer);
      const endpoint: Owned = {
        hook,
        url,
        id: String(id),
        cursor: Number(cursor),
        models,
        made: { asked, answered: monotonic() },
        actions: [],
        secrets: [String(secret)],
        moves: 0,
        rolling: false,
        removed: false,
      };
      owned.push(endpoint);
      if (answer.lost > 0) await removeOthers(url, String(id));
      return endpoint;
    },
    async act(endpoint, action) {
      endpoint.rolling = action.what === "roll";
      return await remember(endpoint, action).finally(() => {
        endpoint.rolling = false;
      });
    },
    async push(schema) {
      const asked = monotonic();
      good(await request("POST", "/v1/schema", schema));
      for (const { actions, removed } of owned)
        if (!removed) actions.push({ what: "push", asked, answered: monotonic() });
    },
    test: (endpoint) => request("POST", `${ENDPOINTS}/${endpoint.id}/test`),
    list,
    view: async ({ id }) => good(await request("GET", `${ENDPOINTS}/${id}`)) as unknown as View,
    attempts: async ({ id }) =>
      good(await request("GET", `${ENDPOINTS}/${id}/attempts?limit=100`)).data as Readonly<Record<string, unknown>>[],
  };

  async function list(): Promise<readonly View[]> {
    return good(await request("GET", ENDPOINTS)).data as View[];
  }

  async function removeOthers(url: string, id: string): Promise<void> {
    const { data } = good(await request("GET", ENDPOINTS)) as { data: { id: string; url: string }[] };
    for (const other of data)
      if (other.url === url && other.id !== id) await request("DELETE", `${ENDPOINTS}/${other.id}`);
  }
}
