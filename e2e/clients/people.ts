import { type ClientOptions, createClient, defineSchema, type ModelSchema, type SyncClient } from "@holdfast/sdk/node";
import { afterAll, onTestFinished } from "vitest";
import { startOperatedServer } from "./operated-server.ts";

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
  request(method: string, path: string, body?: unknown, token?: string): Promise<Readonly<Record<string, unknown>>>;
  /** A token for an agent's slides, in these decks. */
  agentToken(participantId: string, ...decks: readonly string[]): Promise<string>;
  /** A new record, and its id. */
  slide(): Promise<string>;
  person(id: string, options?: Options): Promise<Participant<S>>;
  agent(id: string, options?: Options): Promise<Participant<S>>;
}

export interface Participant<S extends ModelSchema = typeof schema> {
  readonly client: SyncClient<S>;
  readonly tokenId: string;
  readonly token: string;
}

/** Closes it when the test has ended. */
export function closedInTheEnd<C extends { close(): Promise<void> }>(client: C): C {
  onTestFinished(() => client.close());
  return client;
}

type Options = Partial<Pick<ClientOptions<ModelSchema>, "stream" | "clientId">> & {
  readonly operations?: readonly string[];
  /** Of an agent: for whom it may write. */
  readonly onBehalfOf?: readonly string[];
};

/** `own`: the models, if not those of `schema`. */
export async function startPeople<S extends ModelSchema = typeof schema>(
  own: S = schema as ModelSchema as S,
): Promise<People<S>> {
  const { url, databaseUrl, request: send, organization, secretKey } = await startOperatedServer();
  const clients: SyncClient<S>[] = [];
  let slides = 0;
  // Registered after the server's own hook, so it runs before it.
  afterAll(() => Promise.all(clients.map((client) => client.close())));
  const key = await secretKey(await organization("ours"));
  const request: People["request"] = (method, path, body, token = key) => send(method, path, body, token);
  await request("POST", "/v1/schema", own);

  async function open(
    minted: Readonly<Record<string, unknown>>,
    { stream, clientId }: Options,
  ): Promise<Participant<S>> {
    const token = String(minted.token);
    const client = createClient<S>({
      schema: own,
      url,
      getToken: () => token,
      ...(stream !== undefined && { stream }),
      ...(clientId !== undefined && { clientId }),
    });
    clients.push(client);
    await client.ready();
    return { client, token, tokenId: String(minted.id) };
  }

  return {
    ...{ url, databaseUrl, key, request },
    async agentToken(participantId, ...decks) {
      const syncGroups = (decks.length > 0 ? decks : ["d1"]).map((deck) => `deck:${deck}`);
      const body = { participantId, operations: ["slide.*"], syncGroups };
      return String((await request("POST", "/v1/capabilities", body)).token);
    },
    async slide() {
      const id = `s${++slides}`;
      await request("POST", "/v1/models/slide", { id, data: { deckId: "d1", title: "Base" } });
      return id;
    },
    async person(userId, { operations = ["slide.*"], ...options } = {}) {
      const body = { user: { id: userId }, operations, syncGroups: ["deck:d1"] };
      return open(await request("POST", "/v1/ephemeral_keys", body), options);
    },
    async agent(participantId, { operations = ["slide.*"], onBehalfOf = [], ...options } = {}) {
      const body = { participantId, operations, onBehalfOf, syncGroups: ["deck:d1"] };
      return open(await request("POST", "/v1/capabilities", body), options);
    },
  };
}
