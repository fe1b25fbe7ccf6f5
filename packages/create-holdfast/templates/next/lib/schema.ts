import { defineSchema } from "@holdfast/sdk";

export const schema = defineSchema({
  models: {
    slide: {
      fields: { deckId: { type: "string" }, title: { type: "string", required: true }, order: { type: "number" } },
    },
  },
});
export type Schema = typeof schema;
