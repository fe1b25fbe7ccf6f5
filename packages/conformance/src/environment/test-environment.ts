import { randomBytes } from "node:crypto";
import { Unmet } from "../assertions/unmet.ts";
import type { Ask } from "../protocol/answers.ts";
import { createAsk } from "../transport/ask.ts";
import { createStreamRequests } from "../transport/stream-requests.ts";
import { favoriteModel, type Models, ownModels } from "./models.ts";
import { addModels, createPusher, type Push } from "./schemas.ts";

export interface Target {
  readonly url: string;
  /** A secret key of the tenant in which the suite works. */
  readonly key: string;
  /** A secret key of the same organization's other environment. */
  readonly otherKey?: string | undefined;
  readonly adminToken?: string | undefined;
  /** Requests are sent on sockets where the interface allows it. */
  readonly onStream?: boolean | undefined;
}

/** What a suite works on: a server, a tenant with the suite's models, and ids of its own. */
export interface TestEnvironment extends Target {
  /** A new id. No other run makes the same. */
  id(): string;
  readonly ask: Ask;
  readonly push: Push;
  /** How many requests were sent on sockets. */
  streamed(): number;
  /** Removes the suite's models from the schema. Returns the server's answer if it refuses. */
  removeModels(): Promise<string | undefined>;
  close(): void;
}

/** The run cannot begin; the message says what to do. */
export class CannotBegin extends Error {}

export async function openTestEnvironment(target: Target): Promise<TestEnvironment> {
  let made = 0;
  const run = `c${Date.now().toString(36)}${randomBytes(2).toString("hex")}`;
  const onStream = target.onStream ? createStreamRequests(target.url, target.key) : undefined;
  const http = createAsk(target.url, target.key, onStream);
  const { ask } = http;
  const close = () => {
    onStream?.close();
    http.close();
  };
  const push = createPusher(ask);
  try {
    await checkTarget(target, ask);
    for (const token of [target.key, target.otherKey])
      if (token !== undefined) await addModels(push, token, ownModels, favoriteModel);
    const removeModels = async () => {
      for (const token of [target.key, target.otherKey]) {
        if (token === undefined) continue;
        const answer = await push(token, (models) => without(models, Object.keys(ownModels)), { force: true });
        if (answer.status > 201) return answer.text.slice(0, 500);
      }
      return undefined;
    };
    const streamed = () => onStream?.count ?? 0;
    return { ...target, id: () => `${run}-${++made}`, ask, push, streamed, removeModels, close };
  } catch (error) {
    close();
    if (error instanceof CannotBegin || !(error instanceof Unmet)) throw error;
    throw new CannotBegin(`The run cannot begin: ${error.message}.`);
  }
}

const without = (models: Models, names: readonly string[]): Models =>
  Object.fromEntries(Object.entries(models).filter(([name]) => !names.includes(name)));

async function checkTarget({ url, key, otherKey }: Target, ask: Ask): Promise<void> {
  const alive = await ask("GET", "/livez", { token: null }).catch((error: Error) => {
    throw new CannotBegin(`No server of this interface answers at ${url}: ${error.message}.`);
  });
  if (alive.status !== 200)
    throw new CannotBegin(`${url}/livez answers ${alive.status}. Is --url the server's address?`);
  for (const [word, token] of [
    ["--key", key],
    ["--test-key", otherKey],
  ] as const) {
    if (token === undefined) continue;
    if (!token.startsWith("sk_")) throw new CannotBegin(`${word} takes a secret key: it begins with sk_.`);
    const { status, body } = await ask("GET", "/v1/schema", { token });
    if (status === 401) throw new CannotBegin(`The server does not accept ${word} (${body.code}).`);
    if (status !== 200 && status !== 404)
      throw new CannotBegin(`GET /v1/schema with ${word} answers ${status} (${body.code}).`);
  }
  if (otherKey !== undefined && otherKey.slice(0, 8) === key.slice(0, 8))
    throw new CannotBegin("--key and --test-key must be of different environments, sk_live_ and sk_test_.");
}
