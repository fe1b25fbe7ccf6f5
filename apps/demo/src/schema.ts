import { defineSchema, type RowOf } from "@holdfast/sdk";

/** The models of the reference schema that the import agent writes; a test holds them to the shipped file. */
export const schema = defineSchema({
  models: {
    document: {
      fields: { title: { type: "string" }, content: { type: "string" }, metadata: { type: "string" } },
      groups: [{ kind: "document", from: "id" }],
    },
    slide: {
      fields: {
        deckId: { type: "string" },
        title: { type: "string" },
        order: { type: "number", default: 0, index: true },
        templateId: { type: "string" },
        settings: { type: "string" },
        notes: { type: "string" },
        sourceSlideId: { type: "string" },
      },
      groups: [{ kind: "deck", from: "deckId" }],
    },
    documentchunk: {
      fields: {
        attachmentId: { type: "string", required: true },
        chunkIndex: { type: "number", required: true },
        sectionName: { type: "string", nullable: true },
        pageStart: { type: "number", nullable: true },
        pageEnd: { type: "number", nullable: true },
        content: { type: "string", required: true },
        tokenCount: { type: "number", required: true },
        contextPrefix: { type: "string", nullable: true },
        tableData: { type: "json", nullable: true },
        bboxes: { type: "json", nullable: true },
        storageTier: { type: "string", default: "pgvector" },
      },
      groups: [{ kind: "attachment", from: "attachmentId" }],
    },
    ingestionjob: {
      fields: {
        attachmentId: { type: "string" },
        status: { type: "string" },
        error: { type: "string" },
        totalChunks: { type: "number" },
        processedChunks: { type: "number" },
        startedAt: { type: "datetime" },
        completedAt: { type: "datetime" },
        config: { type: "json", nullable: true },
      },
      groups: [{ kind: "attachment", from: "attachmentId" }],
    },
  },
});

export type Schema = typeof schema;

const { document, slide, ingestionjob } = schema.models;

/** What the board shows. A client reads the models that it is given: the agent's passages never come to the page. */
export const boardSchema = defineSchema({ models: { document, slide, ingestionjob } });

export type BoardSchema = typeof boardSchema;
export type Slide = RowOf<BoardSchema, "slide">;
export type Deck = RowOf<BoardSchema, "document">;
export type ImportJob = RowOf<BoardSchema, "ingestionjob">;
