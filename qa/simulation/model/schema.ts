import { defineSchema } from "../../../packages/sdk/src/protocol/schema/row-types.ts";

/** The present schema. */
export const schema = defineSchema({
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string" },
        votes: { type: "integer", default: 0 },
        labels: { type: "array" },
        tag: { type: "string" },
      },
    },
    note: { fields: { slide: { type: "string", references: "slide", inverse: "children" }, text: { type: "string" } } },
    card: {
      fields: {
        code: { type: "string", nullable: true, unique: true },
        slide: { type: "string", nullable: true, references: "slide", onDelete: "cascade", inverse: "cards" },
        parent: { type: "string", nullable: true, references: "card", onDelete: "cascade", inverse: "kids" },
        next: { type: "string", nullable: true, references: "card", onDelete: "setNull" },
      },
    },
  },
});

const { tag: _, ...fieldsBefore } = schema.models.slide.fields;

/** The previous schema, of a tab that was not reloaded or was served from a service worker's cache. */
export const schemaBefore = defineSchema({ models: { ...schema.models, slide: { fields: fieldsBefore } } });
