import { defineSchema } from "@holdfast/sdk/node";

export const schema = defineSchema({
  models: {
    slide: {
      fields: { deckId: { type: "string" }, order: { type: "number", default: 0 } },
      groups: [{ kind: "deck", from: "deckId" }],
    },
  },
});

/** The arguments of the agent's process. */
export interface Orders {
  readonly url: string;
  readonly token: string;
  readonly file: string;
  readonly round: number;
  readonly records: readonly string[];
  /** Only sends its remaining writes. */
  readonly shallFinish: boolean;
}

/** A line of its output. */
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
      /** The rows that it shows at the end: order by id. */
      readonly rows: Readonly<Record<string, unknown>>;
    };
