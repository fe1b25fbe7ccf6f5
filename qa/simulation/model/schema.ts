import { defineSchema } from "../../../packages/sdk/src/protocol/schema/row-types.ts";

/** What the server and an app of today know. */
export const schema = defineSchema({
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string" },
        tag: { type: "string" },
      },
    },
    note: { fields: { slide: { type: "string", references: "slide" }, text: { type: "string" } } },
  },
});

const { tag: _, ...fieldsBefore } = schema.models.slide.fields;

/** What an app of yesterday knows: a tab that was not reloaded, or one that a service worker served from its cache. */
export const schemaBefore = defineSchema({ models: { ...schema.models, slide: { fields: fieldsBefore } } });
