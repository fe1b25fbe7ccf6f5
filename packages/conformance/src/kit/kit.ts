import { type Assertions, createAssertions } from "../assertions/assertions.ts";
import { atLeast, someText } from "../assertions/pattern.ts";
import { NotApplicable } from "../assertions/unmet.ts";
import { NOTE, ownModels } from "../environment/models.ts";
import { addModels } from "../environment/schemas.ts";
import type { TestEnvironment } from "../environment/test-environment.ts";
import type { Answer, Ask, AskOptions, Entry, Row } from "../protocol/answers.ts";
import { entriesOf, positionOf, rowsOf } from "../protocol/answers.ts";
import { type Listener, openStream } from "../transport/stream.ts";

export interface CreatedRecord {
  readonly id: string;
  readonly path: string;
  readonly deckId: string;
  readonly group: string;
  /** The position of its creation. */
  readonly at: number;
}

export interface Token {
  readonly id: string;
  readonly token: string;
}

export interface Tenant {
  readonly organization: string;
  readonly key: string;
  readonly keyId: string;
}

/** What a case works with: requests, records and tokens of its own, and assertions. */
export interface Kit extends Assertions {
  readonly environment: TestEnvironment;
  readonly ask: Ask;
  get(path: string, options?: AskOptions): Promise<Answer>;
  post(path: string, json?: unknown, options?: AskOptions): Promise<Answer>;
  patch(path: string, json: unknown, options?: AskOptions): Promise<Answer>;
  remove(path: string, options?: AskOptions): Promise<Answer>;
  commit(operations: readonly object[], rest?: object, options?: AskOptions): Promise<Answer>;
  /** A new id. */
  id(): string;
  /** A new deck; its notes are in its group. */
  deck(): { readonly deckId: string; readonly group: string };
  /** A new note in the log. */
  note(data?: Row): Promise<CreatedRecord>;
  head(options?: AskOptions): Promise<number>;
  /** The log after a position, up to its head; with ids, only the entries of these records. */
  entries(after: number, ids?: readonly string[], options?: AskOptions): Promise<Entry[]>;
  /** All items of a list, over its pages of a hundred. */
  listed(path: string, options?: AskOptions): Promise<Row[]>;
  /** A stream that closes when the case ends. */
  stream(options?: Parameters<typeof openStream>[1]): Promise<Listener>;
  /** A stream after hello and welcome. */
  connect(hello?: object): Promise<Listener>;
  capability(body: object): Promise<Token>;
  ephemeral(body: object): Promise<Token>;
  organization(): Promise<string>;
  /** The operator's token; without one the case does not apply. */
  admin(): string;
  /** A key of the other environment; without one the case does not apply. */
  otherKey(): string;
  /** A new organization, with an empty tenant that has the suite's models. */
  freshTenant(models?: boolean): Promise<Tenant>;
  /** Registers a cleanup, which runs when the case has ended, also after a failure. */
  after(clean: () => unknown): void;
}

export interface CaseRun {
  readonly kit: Kit;
  /** Every answer of the case, in order. */
  readonly answers: readonly Answer[];
  expectations(): number;
  finish(): Promise<void>;
}

export function createKit(environment: TestEnvironment): CaseRun {
  const answers: Answer[] = [];
  const cleaning: (() => unknown)[] = [];
  const assertions = createAssertions();
  const ask: Ask = (method, path, options) => {
    const asked = environment.ask(method, path, options).then((answer) => {
      answers.push(answer);
      return answer;
    });
    // If the case fails before it awaits this answer, the answer's own error does not matter.
    asked.catch(() => {});
    return asked;
  };
  const { id } = environment;
  const deck = () => {
    const deckId = id();
    return { deckId, group: `confdeck:${deckId}` };
  };
  const admin = () => {
    if (environment.adminToken === undefined) throw new NotApplicable("no admin token was given");
    return environment.adminToken;
  };

  async function mint(path: string, body: object): Promise<Token> {
    const answer = await ask("POST", path, { json: body });
    kit.answered(answer, 201, { id: someText, token: someText });
    const { id, token } = answer.body as unknown as Token;
    cleaning.push(() => environment.ask("DELETE", `${path}/${id}`));
    return { id, token };
  }

  const kit: Kit = {
    ...assertions.expect,
    environment,
    ask,
    get: (path, options) => ask("GET", path, options),
    post: (path, json, options) => ask("POST", path, { ...options, ...(json !== undefined && { json }) }),
    patch: (path, json, options) => ask("PATCH", path, { ...options, json }),
    remove: (path, options) => ask("DELETE", path, options),
    commit: (operations, rest, options) => ask("POST", "/v1/commits", { ...options, json: { operations, ...rest } }),
    id,
    deck,
    async note(data = {}) {
      const made = { id: id(), ...deck() };
      const full = { deckId: made.deckId, title: "one", ...data };
      const answer = await ask("POST", `/v1/models/${NOTE}`, { json: { id: made.id, data: full } });
      kit.answered(answer, 200, { status: "confirmed", lastSyncId: atLeast(1) });
      return { ...made, path: `/v1/models/${NOTE}/${made.id}`, at: positionOf(answer) };
    },
    async head(options) {
      const answer = await ask("GET", "/v1/log?limit=1", options);
      kit.answered(answer, 200, { stamp: atLeast(0) });
      return Number(answer.body.stamp);
    },
    async entries(after, ids, options) {
      const found: Entry[] = [];
      for (let from = after; ; ) {
        const page = await ask("GET", `/v1/log?after=${from}`, options);
        kit.answered(page, 200, { object: "list", next_cursor: /^\d+$/ });
        found.push(...entriesOf(page));
        from = Number(page.body.next_cursor);
        if (page.body.has_more !== true) break;
      }
      return ids ? found.filter((entry) => ids.includes(entry.id)) : found;
    },
    async listed(path, options) {
      const found: Row[] = [];
      for (let cursor = ""; ; ) {
        const page = await ask("GET", `${path}${path.includes("?") ? "&" : "?"}limit=100${cursor}`, options);
        kit.answered(page, 200, { object: "list" });
        found.push(...rowsOf(page));
        if (page.body.has_more !== true) return found;
        cursor = `&starting_after=${encodeURIComponent(String(page.body.next_cursor))}`;
      }
    },
    async stream(options) {
      const stream = await openStream(environment.url, options);
      cleaning.push(() => stream.end());
      return stream;
    },
    async connect(hello = {}) {
      const stream = await kit.stream();
      stream.send({ frame: "hello", token: environment.key, ...hello });
      await stream.next("welcome");
      return stream;
    },
    capability: (body) => mint("/v1/capabilities", { ttlSeconds: 300, ...body }),
    ephemeral: (body) => mint("/v1/ephemeral_keys", { ttlSeconds: 300, ...body }),
    async organization() {
      const answer = await ask("GET", "/v1/identity");
      kit.answered(answer, 200, { organization: someText });
      return String(answer.body.organization);
    },
    admin,
    otherKey() {
      if (environment.otherKey === undefined) throw new NotApplicable("no key of the other environment was given");
      return environment.otherKey;
    },
    async freshTenant(models = true) {
      const token = admin();
      const made = await ask("POST", "/v1/organizations", { token, json: { name: `conformance ${id()}` } });
      kit.answered(made, 201, { id: someText });
      const organization = String(made.body.id);
      const minted = await ask("POST", "/v1/secret_keys", { token, json: { organization, livemode: true } });
      kit.answered(minted, 201, { token: /^sk_live_/, id: someText });
      cleaning.push(() => environment.ask("DELETE", `/v1/secret_keys/${minted.body.id}`, { token }));
      const key = String(minted.body.token);
      if (models) await addModels(environment.push, key, ownModels);
      return { organization, key, keyId: String(minted.body.id) };
    },
    after: (clean) => void cleaning.push(clean),
  };

  return {
    kit,
    answers,
    expectations: assertions.count,
    async finish() {
      for (const clean of cleaning.reverse())
        await Promise.resolve()
          .then(clean)
          .catch(() => {});
    },
  };
}
