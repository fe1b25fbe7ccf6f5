import { expectTypeOf, test } from "vitest";
import type { Change } from "../commits/change.ts";
import type { Json } from "../json.ts";
import { type DataOf, defineSchema, type NewRow, type Patch, type RowFacts, type RowOf } from "./row-types.ts";

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
  expectTypeOf<DataOf<S, "slide">>().toEqualTypeOf<{
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

test("[R39] a row has what the server knows of it, a create and an update do not", () => {
  type Both = DataOf<S, "slide"> & RowFacts;
  expectTypeOf<RowOf<S, "slide">>().toEqualTypeOf<{ [K in keyof Both]: Both[K] }>();
  expectTypeOf<RowOf<S, "slide">["$createdBy"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<"$createdAt">().not.toExtend<keyof NewRow<S, "slide">>();
  expectTypeOf<"$createdAt">().not.toExtend<keyof Patch<S, "slide">>();
});

test("a create needs what is required and has no default", () => {
  expectTypeOf<{ deckId: string }>().toExtend<NewRow<S, "slide">>();
  expectTypeOf<{ title: string }>().not.toExtend<NewRow<S, "slide">>();
  expectTypeOf<{ deckId: string; status: "gone" }>().not.toExtend<NewRow<S, "slide">>();
});

test("the items of an array have the type that it declares", () => {
  const own = defineSchema({
    models: {
      slide: {
        fields: {
          tags: { type: "array", items: "string", default: [] },
          sizes: { type: "array", items: "integer", default: [] },
          any: { type: "array", default: [] },
        },
      },
    },
  });
  expectTypeOf<DataOf<typeof own, "slide">>().toEqualTypeOf<{
    readonly id: string;
    readonly tags: readonly string[];
    readonly sizes: readonly number[];
    readonly any: readonly Json[];
  }>();
  type P = Required<Patch<typeof own, "slide">>;
  expectTypeOf<Change<readonly string[]>>().toExtend<P["tags"]>();
  expectTypeOf<Change<readonly number[]>>().not.toExtend<P["tags"]>();
  expectTypeOf<Change<readonly number[]>>().toExtend<P["any"]>();
});

test("an update takes any of the fields, and null where the field takes it", () => {
  expectTypeOf<Record<never, never>>().toExtend<Patch<S, "slide">>();
  expectTypeOf<{ notes: null }>().toExtend<Patch<S, "slide">>();
  expectTypeOf<{ title: null }>().not.toExtend<Patch<S, "slide">>();
  expectTypeOf<{ order: string }>().not.toExtend<Patch<S, "slide">>();
});

test("the values of an enum may be a list of the app's own", () => {
  const values = ["draft", "done"] as const;
  const own = defineSchema({ models: { slide: { fields: { status: { type: "enum", values, default: "draft" } } } } });
  expectTypeOf<DataOf<typeof own, "slide">>().toEqualTypeOf<{
    readonly id: string;
    readonly status: "draft" | "done";
  }>();
});

test("[DS80] only a model with a table can name the column that says what is archived", () => {
  const table = { name: "public.slides", key: "id", archived: "deleted_at" };
  const { models } = defineSchema({ models: { slide: { fields: { title: { type: "string" } }, table } } });
  expectTypeOf(models.slide.table.archived).toEqualTypeOf<string>();
  // @ts-expect-error It has no table.
  defineSchema({ models: { slide: { fields: { title: { type: "string" } }, archived: "deleted_at" } } });
});
