import type { JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import type { ModelSchema } from "../../../../packages/sdk/src/protocol/schema/model-schema.ts";
import type { Identity } from "../../../../packages/sdk/src/protocol/tokens/tokens.ts";
import { ModelServer } from "../../../../packages/sdk/src/testing/model-server.ts";

/** Whom the app of a device gives tokens of: the person whose store it is, another one, or the same one in another organization. */
export type SignedIn = "owner" | "another user" | "another organization";
/** The scope of a device's tokens. */
export type ViewName = "whole" | "narrow";

const OWN = "org/test";
const OTHER = "org_other/test";
/** In the name of every record of the other organization. */
export const ELSEWHERE = "elsewhere";

export const ownerOf = (device: string): string => `${OWN}/user/${device}`;

/** The server's data about a token, and its view. */
export interface Bearer {
  readonly signedIn: SignedIn;
  /** Whose token it is, within its organization. */
  readonly participant: string;
  readonly introduction: Pick<Identity, "owner" | "viewHash" | "serverTime"> & { readonly models: string[] };
  readonly model: ModelServer;
  sees(record: { readonly model: string; readonly id: string }): boolean;
}

/** Organizations, people and views beside the ones that a run is about. */
export class Tenants {
  readonly #own: ModelServer;
  readonly #elsewhere: ModelServer;
  readonly #models: readonly string[];
  readonly #now: () => number;
  readonly #foreign = new Map<string, SignedIn>();
  readonly #views = new Map<string, ViewName>();
  /** Names of the writes that guests have made; true: the write is on disk. */
  readonly guestWrites = new Map<string, boolean>();
  /** Writes that reached the server under a token of another owner than the device's. */
  readonly strayed: string[] = [];

  constructor(schema: ModelSchema, own: ModelServer, now: () => number) {
    this.#own = own;
    this.#now = now;
    this.#models = Object.keys(schema.models);
    this.#elsewhere = new ModelServer(schema);
    this.#elsewhere.logId = "log_elsewhere";
    for (let i = 0; i < 3; i++) {
      const operation = {
        action: "create",
        model: "slide",
        id: `${ELSEWHERE}-${i}`,
        data: { title: ELSEWHERE } as JsonObject,
      };
      this.#elsewhere.commit({ clientTxId: `${i}`, clientId: "c", operations: [operation] } as never, "another");
    }
  }

  /** The organization of the guests. */
  get elsewhere(): ModelServer {
    return this.#elsewhere;
  }

  /** A token that the app gives although the store of the device is another owner's. */
  foreignToken(actor: string, signedIn: SignedIn): string {
    const token = `${actor} as ${signedIn}`;
    this.#foreign.set(token, signedIn);
    return token;
  }

  isForeign(token: string): boolean {
    return this.#foreign.has(token);
  }

  viewOf(actor: string): ViewName {
    return this.#views.get(actor) ?? "whole";
  }

  show(actor: string, view: ViewName): void {
    this.#views.set(actor, view);
  }

  bearer(actor: string, token: string): Bearer {
    const signedIn = this.#foreign.get(token) ?? "owner";
    const tenant = signedIn === "another organization" ? OTHER : OWN;
    const view = signedIn === "owner" ? this.viewOf(actor) : "whole";
    const participant = signedIn === "another user" ? `not-${actor}` : actor;
    return {
      signedIn,
      participant,
      introduction: {
        owner: `${tenant}/user/${participant}`,
        viewHash: view,
        serverTime: new Date(this.#now()).toISOString(),
        models: this.#models.filter((model) => view === "whole" || model !== "note"),
      },
      model: tenant === OTHER ? this.#elsewhere : this.#own,
      sees: (record) => isSeen(view, record),
    };
  }
}

/** A narrow view lacks one shared record, and a model. */
export const isSeen = (view: ViewName, { model, id }: { readonly model: string; readonly id: string }): boolean =>
  view === "whole" || (model !== "note" && id !== "shared-1");
