import { tableOf } from "../core/log/tables.ts";
import type { Claim, ClaimBody, ClaimStatus } from "../protocol/claims/claim.ts";
import { type ErrorCode, errorCodes } from "../protocol/errors/error-codes.ts";
import { errorSentences } from "../protocol/errors/error-sentences.ts";
import { limits } from "../protocol/limits.ts";

interface Held {
  readonly id: string;
  readonly actor: string;
  readonly model: string;
  readonly record: string;
  readonly field: string | undefined;
  readonly ttlMs: number;
  readonly body: ClaimBody;
  status: ClaimStatus;
  fence: number | undefined;
  syncId?: number;
  endsAt: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The service's rules of claims in memory, for tests: one holder, a line in order of arrival, leases that end. */
export class ModelClaims {
  readonly #now: () => number;
  /** How far the log reaches. */
  readonly #head: () => number;
  readonly #all = new Map<string, Held>();
  readonly #fences = new Map<string, number>();
  readonly #listeners = new Set<(claim: Claim, record: { model: string; id: string }) => void>();
  #made = 0;

  constructor(now: () => number, head: () => number = () => 0) {
    this.#head = head;
    this.#now = now;
  }

  /** Calls back for every claim that changes. */
  onChange(listener: (claim: Claim, record: { model: string; id: string }) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  acquire(actor: string, model: string, record: string, body: ClaimBody = {}): Answer {
    this.sweep();
    const ttlMs = body.ttl === undefined ? limits.claimTtlMs : millis(body.ttl);
    if (ttlMs === undefined) return refusal("invalid_ttl");
    const own = this.#alive(model, record).find((c) => c.actor === actor && c.field === body.field);
    if (own) return own.status === "active" ? this.#renewed(own, 200) : { status: 202, body: this.#shown(own) };
    const rivals = this.#alive(model, record).filter((c) => c.actor !== actor && overlap(c.field, body.field));
    const held: Held = {
      id: `clm_${++this.#made}`,
      actor,
      model,
      record,
      field: body.field,
      ttlMs,
      body,
      status: "queued",
      fence: undefined,
      endsAt: 0,
    };
    if (rivals.length > 0 && !body.queue) return refusal("claim_conflict", this.of(model, record).claims);
    this.#all.set(held.id, held);
    if (rivals.length > 0) {
      this.#notify(held);
      return { status: 202, body: this.#shown(held) };
    }
    this.#grant(held);
    return { status: 201, body: this.#shown(held) };
  }

  renew(actor: string, id: string): Answer {
    this.sweep();
    const held = this.#all.get(id);
    if (!held) return refusal("claim_not_found");
    if (held.actor !== actor) return refusal("not_claim_holder");
    if (held.status === "queued") return { status: 200, body: this.#shown(held) };
    if (held.status !== "active") return refusal("claim_lost", this.of(held.model, held.record).claims);
    return this.#renewed(held, 200);
  }

  read(id: string): Answer {
    this.sweep();
    const held = this.#all.get(id);
    return held ? { status: 200, body: this.#shown(held) } : refusal("claim_not_found");
  }

  release(actor: string, id: string): Answer {
    const held = this.#all.get(id);
    if (!held) return refusal("claim_not_found");
    if (held.actor !== actor) return refusal("not_claim_holder");
    const released = isAlive(held) ? 1 : 0;
    if (released) this.end(id, held.status === "active" ? "released" : "canceled");
    return { status: 200, body: { object: "claim_release", released } };
  }

  releaseRecord(actor: string, model: string, record: string): Answer {
    const own = this.#alive(model, record).filter((c) => c.actor === actor);
    for (const held of own) this.end(held.id, "released");
    return { status: 200, body: { object: "claim_release", released: own.length } };
  }

  /** Ends a claim as its expiry, or another participant, would; the next in the queue gets it. */
  end(id: string, status: Exclude<ClaimStatus, "active" | "queued">): void {
    const held = this.#all.get(id);
    if (!held || !isAlive(held)) return;
    held.status = status;
    this.#notify(held);
    this.#promote(held.model, held.record);
  }

  of(model: string, record: string): { claims: Claim[]; queue: Claim[] } {
    const alive = this.#alive(model, record);
    return {
      claims: alive.filter((c) => c.status === "active").map((c) => this.#shown(c)),
      queue: alive.filter((c) => c.status === "queued").map((c) => this.#shown(c)),
    };
  }

  /** Whether a claim stands against a write, as the server asks inside its transaction. */
  judge(
    actor: string,
    write: { model: string; id: string; fields: readonly string[] | undefined; claim?: unknown },
  ): Answer | undefined {
    this.sweep();
    const alive = this.#alive(write.model, write.id).filter((c) => c.status === "active");
    const held = typeof write.claim === "string" ? this.#all.get(write.claim) : undefined;
    const isOwn = held?.status === "active" && held.actor === actor && alive.includes(held);
    const claims = this.of(write.model, write.id).claims;
    if (write.claim !== undefined && write.claim !== null && !isOwn) return refusal("claim_lost", claims);
    const foreign = alive.some(
      (c) => c.actor !== actor && (c.field === undefined || !write.fields || write.fields.includes(c.field)),
    );
    return foreign ? refusal("claim_conflict", claims) : undefined;
  }

  /** Ends what was not renewed in time. */
  sweep(): void {
    for (const held of this.#all.values())
      if (held.status === "active" && held.endsAt <= this.#now()) this.end(held.id, "expired");
  }

  #renewed(held: Held, status: number): Answer {
    held.endsAt = this.#now() + held.ttlMs;
    return { status, body: this.#shown(held) };
  }

  #grant(held: Held): void {
    const key = `${tableOf(held.model)}/${held.record}`;
    const fence = (this.#fences.get(key) ?? 0) + 1;
    this.#fences.set(key, fence);
    Object.assign(held, { status: "active", fence, syncId: this.#head(), endsAt: this.#now() + held.ttlMs });
    this.#notify(held);
  }

  #promote(model: string, record: string): void {
    for (const waiter of this.#alive(model, record).filter((c) => c.status === "queued")) {
      const before = this.#alive(model, record);
      const rivals = before
        .slice(0, before.indexOf(waiter))
        .concat(before.filter((c) => c.status === "active"))
        .filter((c) => c.actor !== waiter.actor && overlap(c.field, waiter.field));
      if (rivals.length === 0) this.#grant(waiter);
      else this.#notify(waiter);
    }
  }

  #alive(model: string, record: string): Held[] {
    return [...this.#all.values()].filter(
      (c) => tableOf(c.model) === tableOf(model) && c.record === record && isAlive(c),
    );
  }

  #notify(held: Held): void {
    for (const listener of [...this.#listeners]) listener(this.#shown(held), { model: held.model, id: held.record });
  }

  #shown(held: Held): Claim {
    const { id, actor, field, status, fence, body, model, record } = held;
    const queue = this.#alive(model, record).filter((c) => c.status === "queued");
    return {
      object: "claim",
      id,
      actor,
      participantKind: "user",
      action: body.action ?? "edit",
      ...(field !== undefined && { field }),
      status,
      ...(fence !== undefined && { fence }),
      ...(held.syncId !== undefined && { syncId: held.syncId }),
      ...(status === "queued" && { position: queue.indexOf(held) }),
      description: body.description ?? null,
      meta: body.meta ?? null,
      ...(body.run !== undefined && { run: body.run }),
      ...(body.onBehalfOf !== undefined && { onBehalfOf: body.onBehalfOf }),
      createdAt: "2030-01-01T00:00:00.000Z",
      ...(status === "active" && { expiresInMs: Math.max(0, held.endsAt - this.#now()) }),
      target: { model, resource: model, id: record, ...(field !== undefined && { field }) },
    };
  }
}

const isAlive = ({ status }: Held) => status === "active" || status === "queued";

const overlap = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;

function millis(ttl: string | number): number | undefined {
  if (typeof ttl === "number") return ttl;
  const [, count, unit] = /^(\d+)(ms|s|m|h)$/.exec(ttl) ?? [];
  return count === undefined ? undefined : Number(count) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as "ms"];
}

function refusal(code: ErrorCode, claims?: readonly Claim[]): Answer {
  const { type, status } = errorCodes[code];
  return { status, body: { type, code, message: errorSentences[code], ...(claims && { claims }) } };
}
