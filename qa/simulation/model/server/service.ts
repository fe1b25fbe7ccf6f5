import type { Operation } from "../../../../packages/sdk/src/protocol/commits/operation.ts";
import type { ModelSchema } from "../../../../packages/sdk/src/protocol/schema/model-schema.ts";
import { type BulkItem, ModelServer } from "../../../../packages/sdk/src/testing/model-server.ts";
import { type Bearer, Tenants } from "./tenants.ts";

/** How long the server knows a commit by its name. */
const RECEIPTS_MS = 30 * 86_400_000;

/** A commit that the server took, with where its log ended then. */
export interface Accepted {
  readonly actor: string;
  readonly name: string;
  readonly operations: readonly Operation[];
  /** How many entries it wrote of the records that it names; none when it changed nothing. */
  readonly entries: number;
  readonly upTo: number;
}

interface SentCommit {
  readonly clientTxId: string;
  readonly operations: readonly Operation[];
}

/** The service, with the records of requests that the oracle needs. */
export class Service {
  readonly model: ModelServer;
  /** In the order of the log, without commits that a restore removed. */
  accepted: Accepted[] = [];
  /** Commits that were confirmed at any time, whatever became of the log: `<actor> <name>`. */
  readonly confirmed = new Set<string>();
  /** Those of them that a backup took back, or that were of a log which is gone. */
  readonly takenBack = new Set<string>();
  /** The token that is good for each actor now. */
  readonly tokens = new Map<string, string>();
  restores = 0;
  /** The operations sent under each name that has no response yet, or a successful one. */
  readonly tenants: Tenants;
  readonly #texts = new Map<string, string>();

  constructor(schema: ModelSchema, now: () => number) {
    this.model = new ModelServer(schema, now);
    this.tenants = new Tenants(schema, this.model, now);
    // A schema that knows some values only, as seen by a client that knows more.
    this.model.refuse(({ data }) => (isRefused(data?.title) ? "invalid_value" : undefined));
  }

  /** The bearer of a token; undefined: it is invalid. */
  bearer(actor: string, token: string): Bearer | undefined {
    if (!this.tenants.isForeign(token) && this.tokens.get(actor) !== token) return undefined;
    return this.tenants.bearer(actor, token);
  }

  /** Receives a bulk. A bulk under another owner's token than the device's is a violation. */
  receive(text: string, actor: string, bearer: Bearer): { object: "list"; data: BulkItem[] } {
    const { signedIn, model, participant } = bearer;
    const { commits } = JSON.parse(text) as { commits: SentCommit[] };
    const isGuest = signedIn === "another organization";
    const strayed = commits.filter(({ clientTxId }) => this.tenants.guestWrites.has(clientTxId) !== isGuest);
    if (signedIn === "owner" && strayed.length === 0) return this.commit(text, actor);
    if (isGuest && strayed.length === 0) return model.bulk(text, participant);
    this.tenants.strayed.push(...commits.map(({ clientTxId }) => `${clientTxId} of ${actor} reached ${signedIn}`));
    return { object: "list", data: [] };
  }

  commit(text: string, actor: string): { object: "list"; data: BulkItem[] } {
    const { commits } = JSON.parse(text) as { commits: SentCommit[] };
    const head = this.model.head;
    const known = commits.map(({ clientTxId }) => this.model.receiptOf(actor, clientTxId) !== undefined);
    const answer = this.model.bulk(text, actor);
    for (const [i, { clientTxId, operations }] of commits.entries()) {
      const item = answer.data[i];
      if (item?.status !== "confirmed") this.#texts.delete(`${actor} ${clientTxId}`);
      if (known[i] || item?.status !== "confirmed") continue;
      const written = this.model.log.slice(head).filter((entry) => entry.clientTxId === clientTxId);
      const upTo = written.at(-1)?.syncId ?? this.accepted.at(-1)?.upTo ?? 0;
      const own = written.filter((entry) =>
        operations.some(({ model, id }) => model === entry.model && id === entry.id),
      );
      this.accepted.push({ actor, name: clientTxId, operations, entries: own.length, upTo });
      this.confirmed.add(`${actor} ${clientTxId}`);
      this.takenBack.delete(`${actor} ${clientTxId}`);
    }
    return answer;
  }

  /** Whether it was ever confirmed, under that name or one that it went on under on another log. */
  wasConfirmed(actor: string, name: string): boolean {
    const stem = stemOf(name);
    for (const key of this.confirmed) if (stemOf(key) === `${actor} ${stem}`) return true;
    return false;
  }

  /** Whether this is the text that was sent under the name before: until the server has refused it, it must not change. */
  hasOneText(key: string, text: string): boolean {
    const before = this.#texts.get(key) ?? text;
    this.#texts.set(key, before);
    return before === text;
  }

  /** A write waits behind a decision, so it may be sent with another body from now on. */
  mayChange(key: string): void {
    this.#texts.delete(key);
  }

  /** Forgets the receipts that are too old, as the real server does. Clients know nothing of it. */
  forgetReceipts(): void {
    this.model.forgetReceipts(RECEIPTS_MS);
  }

  /** Restores a backup: only the first `keep` commits remain, and the log gets another id. */
  restore(keep: number): void {
    const upTo = this.accepted[keep - 1]?.upTo ?? 0;
    for (const { actor, name } of this.accepted.slice(keep)) this.takenBack.add(`${actor} ${name}`);
    this.accepted.length = Math.min(keep, this.accepted.length);
    this.restores += 1;
    this.model.restoreTo(upTo, `log_${this.restores + 1}`);
  }
}

/** On another log, a write continues as `name~1`, `name~2`, … */
export const stemOf = (name: string): string => name.replace(/~\d+$/, "");

export const isRefused = (title: unknown): boolean => typeof title === "string" && title.startsWith("refused");
