import { defineSchema } from "@holdfast/sdk/node";

export const schema = defineSchema({
  models: {
    slide: {
      fields: { deckId: { type: "string" }, order: { type: "number", default: 0 } },
      groups: [{ kind: "deck", from: "deckId" }],
    },
  },
});

/** What an agent is started with. */
export interface Orders {
  readonly url: string;
  readonly token: string;
  readonly file: string;
  readonly round: number;
  readonly records: readonly string[];
  /** It writes nothing, and sends what is left. */
  readonly shallFinish: boolean;
}

/** What it says, line by line. */
export type Report =
  | { readonly is: "ready"; readonly pending: number }
  | { readonly is: "queued"; readonly clientTxId: string; readonly id: string; readonly order: number }
  | {
      readonly is: "finished";
      readonly name: string;
      readonly pending: number;
      readonly conflicts: number;
      readonly attention: number;
      readonly reason: string | undefined;
      /** What it shows in the end: order by id. */
      readonly rows: Readonly<Record<string, unknown>>;
    };
