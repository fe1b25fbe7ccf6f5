import { expectTypeOf, test } from "vitest";
import type { Json } from "../json.ts";
import { defineSchema, type NewRow, type Patch, type RowOf } from "./row-types.ts";

const schema = defineSchema({
  models: {
    slide: {
      fields: {
        deckId: { type: "string", required: true },
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string", nullable: true },
        status: { type: "enum", values: ["draft", "done"], required: true, default: "draft" },
        shown: { type: "boolean" },
        due: { type: "datetime" },
        tags: { type: "array" },
        settings: { type: "json" },
      },
    },
  },
});
type S = typeof schema;

test("a row has its id, what is required or has a default, and the rest if it was given", () => {
  expectTypeOf<RowOf<S, "slide">>().toEqualTypeOf<{
    readonly id: string;
    readonly deckId: string;
    readonly order: number;
    readonly status: "draft" | "done";
    readonly title?: string;
    readonly notes?: string | null;
    readonly shown?: boolean;
    readonly due?: string;
    readonly tags?: readonly Json[];
    readonly settings?: Json;
  }>();
});

test("a create needs what is required and has no default", () => {
  expectTypeOf<{ deckId: string }>().toExtend<NewRow<S, "slide">>();
  expectTypeOf<{ title: string }>().not.toExtend<NewRow<S, "slide">>();
  expectTypeOf<{ deckId: string; status: "gone" }>().not.toExtend<NewRow<S, "slide">>();
});

test("an update takes any of the fields, and null where the field takes it", () => {
  expectTypeOf<Record<never, never>>().toExtend<Patch<S, "slide">>();
  expectTypeOf<{ notes: null }>().toExtend<Patch<S, "slide">>();
  expectTypeOf<{ title: null }>().not.toExtend<Patch<S, "slide">>();
  expectTypeOf<{ order: string }>().not.toExtend<Patch<S, "slide">>();
});
