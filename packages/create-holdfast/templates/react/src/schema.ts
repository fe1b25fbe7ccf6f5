import { defineSchema, type RowOf } from "@holdfast/sdk";

/** The models. The page and the backend use this file; while `npm run dev` runs, a change is pushed to the server. */
export const schema = defineSchema({
  models: {
    task: {
      fields: {
        listId: { type: "string" },
        title: { type: "string", required: true, maxLength: 200 },
        done: { type: "boolean", default: false },
        order: { type: "number", default: 0 },
      },
      groups: [{ kind: "list", from: "listId" }], // a task is in the group list:<listId>; a token names groups
    },
  },
});

export type Task = RowOf<typeof schema, "task">;

/** This app shows one list. Its group is also the room of the people who look at it. */
export const LIST_ID = "main";
export const LIST_GROUP = `list:${LIST_ID}`;
