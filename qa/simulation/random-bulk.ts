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
    const operations = Array.from({ length: 1 + chance.below(3) }, () =>
      chance.percent(40) ? this.#card(head) : this.#operation(head),
    );
    const clientTxId = known?.clientTxId ?? `tx-${this.#sent.length}-${chance.below(1_000_000)}`;
    return {
      operations: chance.percent(30) ? operations : distinct(operations),
      clientTxId,
      clientId: `client_${chance.below(2)}`,
    };
  }

  /** A record with unique fields and checked references, few of each, so that they often meet. */
  #card(head: number): { action: string; id: string } {
    const chance = this.#chance;
    const action = chance.oneOf(["create", "create", "update", "update", "update", "delete"]);
    const one = (prefix: string, most: number) => (chance.percent(25) ? null : `${prefix}${chance.below(most)}`);
    const values: Record<string, unknown> = {
      code: one("v", 2),
      area: one("a", 2),
      slot: one("s", 2),
      slide: one("s", 4),
      parent: one("c", 5),
      friends: Array.from({ length: chance.below(3) }, () => `c${chance.below(5)}`),
      keeper: one("s", 4),
    };
    const isUnique = (name: string) => name === "code" || name === "area" || name === "slot";
    const data = Object.fromEntries(
      Object.entries(values).filter(([name]) => chance.percent(isUnique(name) ? 55 : 15)),
    );
    return {
      ...{ action, model: "card", id: `c${chance.below(5)}`, readAt: head, onStale: "overwrite" },
      ...(action !== "delete" && { data: Object.keys(data).length > 0 ? data : { code: null } }),
    };
  }

  #operation(head: number): { action: string; id: string } {
    const chance = this.#chance;
    const id = `s${chance.below(4)}`;
    const action = chance.oneOf(["create", "update", "update", "update", "update", "delete", "archive", "unarchive"]);
    const readAt = chance.percent(3) ? head + 1_000 : chance.percent(50) ? head : chance.below(head + 1);
    const fields = FIELDS.filter(() => chance.percent(50));
    const names = fields.length > 0 || action !== "update" ? fields : ["title"];
    const changes = {
      ...(chance.percent(50) && { votes: { increment: chance.below(3) } }),
      ...(chance.percent(50) && { labels: { [chance.oneOf(["add", "remove"])]: [`l${chance.below(3)}`] } }),
    };
    const data = Object.fromEntries(names.map((f) => [f, f === "order" ? chance.below(3) : `v${chance.below(3)}`]));
    return {
      action,
      model: "slide",
      id,
      ...((action === "create" || action === "update") && { data }),
      ...(action === "update" && chance.percent(40) && { changes }),
      readAt,
      onStale: chance.oneOf(["notify", "notify", "notify", "reject", "overwrite"]),
    } as { action: string; id: string };
  }
}

/** Most commits write a record once. */
function distinct(operations: readonly { id: string }[]): readonly { id: string }[] {
  return operations.filter((operation, i) => operations.findIndex(({ id }) => id === operation.id) === i);
}
