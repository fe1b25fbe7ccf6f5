import type { Actors, Holder } from "./actors.ts";
import { holderOf } from "./actors.ts";
import type { Answer, Wire } from "./wire.ts";

/** Something that only the run itself can fill in: where the log is now, a token that it made, a cursor that it got. */
export class Later {
  readonly what: "position" | "cursor" | "commit" | "capability" | "ephemeralKey" | "secretKey" | "organization";
  readonly n: number;
  constructor(what: Later["what"], n: number) {
    this.what = what;
    this.n = n;
  }
}

export interface Sent {
  readonly who: Holder;
  readonly wire: Wire;
}

const KEPT = 64;

/** Data from responses, so that later requests build on earlier ones. */
export class Memory {
  readonly actors: Actors;
  readonly secrets = new Map<string, string>();
  readonly #heads = new Map<string, number>();
  readonly #cursors: string[] = [];
  readonly #commits: string[] = [];
  readonly #organizations: string[];
  readonly #ids = { capability: [] as string[], ephemeralKey: [] as string[], secretKey: [] as string[] };
  readonly #minted: Holder[] = [];
  readonly #pages: Sent[] = [];
  readonly #writes: Sent[] = [];

  constructor(actors: Actors) {
    this.actors = actors;
    this.#organizations = [...actors.organizations];
    for (const { name, token } of actors.holders.values()) if (token !== undefined) this.secrets.set(token, name);
  }

  fill({ what, n }: Later, { tenant }: Holder): unknown {
    switch (what) {
      case "position":
        // Mostly a little back, seldom beyond the head.
        return Math.max(0, (this.#heads.get(tenant ?? "") ?? 0) + (n % 20 === 19 ? n : -(n % 40)));
      case "cursor":
        return pick(this.#cursors, n) ?? "x";
      case "commit":
        return pick(this.#commits, n) ?? "t0";
      case "organization":
        return pick(this.#organizations, n);
      default:
        return pick(this.#ids[what], n) ?? "none";
    }
  }

  holder(name: string): Holder {
    return this.actors.holders.get(name) as Holder;
  }

  mintedHolder = (n: number): Holder | undefined => pick(this.#minted, n);
  nextPage = (n: number): Sent | undefined => pick(this.#pages, n);
  earlierWrite = (n: number): Sent | undefined => pick(this.#writes, n);

  /** Remembers the data of a response. */
  learn(sent: Sent, answer: Answer, isWrite: boolean): void {
    const { who, wire } = sent;
    if (isWrite) keep(this.#writes, sent);
    if (answer.status >= 300) return;
    const body = parsed(answer.text);
    const head = body.lastSyncId ?? body.stamp;
    if (who.tenant !== undefined && typeof head === "number")
      this.#heads.set(who.tenant, Math.max(head, this.#heads.get(who.tenant) ?? 0));
    for (const [cursor, side] of [
      [body.next_cursor, "starting_after"],
      [body.previous_cursor, "ending_before"],
    ] as const) {
      if (typeof cursor !== "string") continue;
      keep(this.#cursors, cursor);
      const next =
        wire.method === "POST"
          ? queryBeside(wire, cursor, side)
          : { ...wire, target: pageBeside(wire.target, cursor, side) };
      keep(this.#pages, { who, wire: next });
    }
    if (body.object === "commit_receipt") keep(this.#commits, String(body.clientTxId));
    if (body.object === "organization") keep(this.#organizations, String(body.id));
    if (typeof body.token === "string") this.#learnToken(body);
  }

  #learnToken(body: Readonly<Record<string, unknown>>): void {
    const holder = holderOf(`${body.object} ${body.id}`, body);
    this.secrets.set(String(body.token), holder.name);
    keep(this.#minted, holder);
    const kinds = { capability: "capability", ephemeral_key: "ephemeralKey", secret_key: "secretKey" } as const;
    keep(this.#ids[kinds[body.object as keyof typeof kinds]], String(body.id));
  }
}

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];

function keep<T>(items: T[], item: T): void {
  items.push(item);
  if (items.length > KEPT) items.shift();
}

type Side = "starting_after" | "ending_before";

/** The next page of a list, or the one before. */
function pageBeside(target: string, cursor: string, side: Side): string {
  const [path = "", search = ""] = target.split("?");
  const query = new URLSearchParams(search);
  for (const other of ["starting_after", "ending_before"]) query.delete(other);
  query.set(path.endsWith("/log") ? "after" : side, cursor);
  return `${path}?${query}`;
}

/** The same of a list whose query is in its body. */
function queryBeside({ body, headers, ...rest }: Wire, cursor: string, side: Side): Wire {
  const { starting_after: _, ending_before: __, ...asked } = parsed(body?.toString() ?? "");
  const query = { ...asked, [side]: cursor };
  const isLength = ([name]: readonly [string, string]) => name.toLowerCase() === "content-length";
  return { ...rest, headers: headers.filter((one) => !isLength(one)), body: Buffer.from(JSON.stringify(query)) };
}

export function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
