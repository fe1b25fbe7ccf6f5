import { defineSchema } from "@holdfast/sdk";

export const slideSchema = defineSchema({
  models: {
    slide: {
      fields: {
        deckId: { type: "string" },
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string" },
      },
    },
  },
});
