import { defineSchema, type RowOf } from "@holdfast/sdk/node";

/** As much of the server's models as this agent works with. */
export const schema = defineSchema({
  models: {
    slide: { fields: { deckId: { type: "string" }, title: { type: "string" }, notes: { type: "string" } } },
  },
});
export type Slide = RowOf<typeof schema, "slide">;
