import type { SeededRandom } from "../support/seeded-random.ts";

export type Commit = Readonly<Record<string, unknown>> & { readonly clientTxId: string };

const FIELDS = ["title", "notes", "order"];

/** Bulks as clients may send them: new, stale, repeated, with another body under a known name, and with a future premise. */
export class RandomBulks {
  readonly #chance: SeededRandom;
  readonly #sent: Commit[] = [];

  constructor(chance: SeededRandom) {
    this.#chance = chance;
  }

  next(head: number): readonly Commit[] {
    const commits = Array.from({ length: 1 + this.#chance.below(5) }, () => this.#commit(head));
    this.#sent.push(...commits);
    // One bulk names a write once.
    return commits.filter((commit, i) => commits.findIndex((one) => one.clientTxId === commit.clientTxId) === i);
  }

  #commit(head: number): Commit {
    const chance = this.#chance;
    const known = this.#sent.length > 0 && chance.percent(15) ? chance.oneOf(this.#sent) : undefined;
    if (known && chance.percent(70)) return known;
    const operations = Array.from({ length: 1 + chance.below(3) }, () => this.#operation(head));
    const clientTxId = known?.clientTxId ?? `tx-${this.#sent.length}-${chance.below(1_000_000)}`;
    return { operations: distinct(operations), clientTxId, clientId: `client_${chance.below(2)}` };
  }

  #operation(head: number): { action: string; id: string } {
    const chance = this.#chance;
    const id = `s${chance.below(4)}`;
    const action = chance.oneOf(["create", "update", "update", "update", "update", "delete", "archive", "unarchive"]);
    const readAt = chance.percent(3) ? head + 1_000 : chance.percent(50) ? head : chance.below(head + 1);
    const fields = FIELDS.filter(() => chance.percent(50));
    const names = fields.length > 0 || action !== "update" ? fields : ["title"];
    const data = Object.fromEntries(names.map((f) => [f, f === "order" ? chance.below(3) : `v${chance.below(3)}`]));
    return {
      action,
      model: "slide",
      id,
      ...((action === "create" || action === "update") && { data }),
      readAt,
      onStale: chance.oneOf(["notify", "notify", "notify", "reject", "overwrite"]),
    } as { action: string; id: string };
  }
}

/** A commit writes a record once. Several writes to one record are not of interest here. */
function distinct(operations: readonly { id: string }[]): readonly { id: string }[] {
  return operations.filter((operation, i) => operations.findIndex(({ id }) => id === operation.id) === i);
}
