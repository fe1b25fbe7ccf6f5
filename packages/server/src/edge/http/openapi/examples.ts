import type { EndpointName } from "@holdfast/sdk/protocol";
import type { Plain } from "./json-schema.ts";

const SLIDE = { deckId: "deck_1", title: "Hello", order: 1 };

/** Example bodies to start from. `data` is a record of the endpoint's model. */
export function bodyExamples(endpoint: EndpointName, data: Plain = SLIDE): Plain | undefined {
  const make = EXAMPLES[endpoint];
  return make && Object.fromEntries(Object.entries(make(data)).map(([name, value]) => [name, { value }]));
}

const EXAMPLES: Readonly<Partial<Record<EndpointName, (data: Plain) => Plain>>> = {
  createRecord: (data) => ({ create: { id: "record_1", data } }),
  updateRecord: (data) => ({
    update: { data: firstOf(data), readAt: 41 },
    "held if stale": { data: firstOf(data), readAt: 41, onStale: "notify" },
  }),
  commit: () => ({
    "two at once": {
      clientTxId: "import-42",
      operations: [
        { action: "create", model: "slide", id: "slide_1", data: SLIDE },
        { action: "update", model: "document", id: "deck_1", data: { title: "A deck" }, readAt: 41 },
      ],
    },
    "with a premise": {
      operations: [{ action: "archive", model: "document", id: "deck_1" }],
      reads: [{ group: "deck:deck_1", readAt: 41 }],
    },
  }),
  commitBulk: () => ({
    bulk: {
      commits: [
        { clientTxId: "c1", operations: [{ action: "create", model: "slide", id: "slide_1", data: SLIDE }] },
        { clientTxId: "c2", operations: [{ action: "delete", model: "slide", id: "slide_0" }] },
      ],
    },
  }),
  pushSchema: () => ({
    slides: {
      models: {
        slide: {
          fields: {
            deckId: { type: "string" },
            title: { type: "string" },
            order: { type: "number", default: 0 },
            notes: { type: "string", nullable: true },
          },
          groups: [{ kind: "deck", from: "deckId" }],
        },
      },
    },
  }),
};

const firstOf = (data: Plain): Plain => Object.fromEntries(Object.entries(data).slice(0, 1));
