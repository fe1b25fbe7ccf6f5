import { type ClientOptions, createClient, defineSchema, type ModelSchema, type SyncClient } from "@holdfast/sdk/node";
import { newMasterKey, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll } from "vitest";

const ADMIN = "admin_token_of_the_clients_tests";

export const schema = defineSchema({
  models: {
    slide: {
      fields: { deckId: { type: "string" }, title: { type: "string" }, order: { type: "number", default: 0 } },
      groups: [{ kind: "deck", from: "deckId" }],
    },
  },
});
export type Client = SyncClient<typeof schema>;

/** The real server, and clients of people and agents, each with a token of their own. */
export interface People<S extends ModelSchema = typeof schema> {
  readonly url: string;
  readonly databaseUrl: string;
  /** The secret key. */
  readonly key: string;
  request(method: string, path: string, body?: unknown, token?: string): Promise<Record<string, unknown>>;
  person(id: string, options?: Options): Promise<Participant<S>>;
  agent(id: string, options?: Options): Promise<Participant<S>>;
}

export interface Participant<S extends ModelSchema = typeof schema> {
  readonly client: SyncClient<S>;
  readonly tokenId: string;
  readonly token: string;
}

type Options = Partial<Pick<ClientOptions<ModelSchema>, "stream" | "clientId">> & {
  readonly operations?: readonly string[];
};

/** `own`: the models, if not those of `schema`. */
export async function startPeople<S extends ModelSchema = typeof schema>(
  own: S = schema as ModelSchema as S,
): Promise<People<S>> {
  const { url: databaseUrl } = await freshDatabase();
  const server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 });
  const clients: SyncClient<S>[] = [];
  // Registered after the database's own hook, so it runs before it.
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  });
  const { id } = await send("POST", "/v1/organizations", { name: "ours" }, ADMIN);
  const { token: key } = await send("POST", "/v1/secret_keys", { organization: id, livemode: true }, ADMIN);
  await request("POST", "/v1/schema", own);

  async function send(method: string, path: string, body: unknown, token: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(server.url + path, { method, headers, ...sent });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }

  function request(
    method: string,
    path: string,
    body?: unknown,
    token = String(key),
  ): Promise<Record<string, unknown>> {
    return send(method, path, body, token);
  }

  async function open(minted: Record<string, unknown>, { stream, clientId }: Options): Promise<Participant<S>> {
    const token = String(minted.token);
    const client = createClient<S>({
      schema: own,
      url: server.url,
      getToken: () => token,
      ...(stream !== undefined && { stream }),
      ...(clientId !== undefined && { clientId }),
    });
    clients.push(client);
    await client.ready();
    return { client, token, tokenId: String(minted.id) };
  }

  return {
    url: server.url,
    databaseUrl,
    key: String(key),
    request,
    async person(userId, { operations = ["slide.*"], ...options } = {}) {
      const body = { user: { id: userId }, operations, syncGroups: ["deck:d1"] };
      return open(await request("POST", "/v1/ephemeral_keys", body), options);
    },
    async agent(participantId, { operations = ["slide.*"], ...options } = {}) {
      const body = { participantId, operations, syncGroups: ["deck:d1"] };
      return open(await request("POST", "/v1/capabilities", body), options);
    },
  };
}
