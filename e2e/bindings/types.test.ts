import type { Hooks } from "@holdfast/react";
import { defineSchema } from "@holdfast/sdk";
import type { Bindings as SolidBindings } from "@holdfast/solid";
import type { Bindings as SvelteBindings } from "@holdfast/svelte";
import type { Bindings as VueBindings } from "@holdfast/vue";
import { expectTypeOf, test } from "vitest";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string", required: true } } },
    task: {
      fields: {
        title: { type: "string", required: true },
        done: { type: "boolean" },
        projectId: { type: "string", references: "project", inverse: "tasks" },
      },
    },
  },
});
type S = typeof schema;
declare const hooks: Hooks<S>;
declare const vue: VueBindings<S>;
declare const svelte: SvelteBindings<S>;
declare const solid: SolidBindings<S>;

/** Compiled, and never called. */
const rows = () => {
  const query = { where: { done: true }, include: { project: true } } as const;
  return {
    hooks: hooks.useQuery("task", query),
    vue: [vue.useQuery("task", query).value, vue.useQuery("task", () => query).value] as const,
    svelte: [svelte.useQuery("task", query).current, svelte.useQuery("task", () => query).current] as const,
    solid: [solid.useQuery("task", query)(), solid.useQuery("task", () => query)()] as const,
  };
};
type Rows = ReturnType<typeof rows>;

test("[BN15] rows have the types of the schema, also with what an argument or a getter includes", () => {
  expectTypeOf<Rows["hooks"][number]["title"]>().toEqualTypeOf<string>();
  expectTypeOf<Rows["vue"][0]>().toEqualTypeOf<Rows["hooks"]>();
  expectTypeOf<Rows["vue"][1]>().toEqualTypeOf<Rows["hooks"]>();
  expectTypeOf<Rows["svelte"][0]>().toEqualTypeOf<Rows["hooks"]>();
  expectTypeOf<Rows["svelte"][1]>().toEqualTypeOf<Rows["hooks"]>();
  expectTypeOf<Rows["solid"][0]>().toEqualTypeOf<Rows["hooks"]>();
  expectTypeOf<Rows["solid"][1]>().toEqualTypeOf<Rows["hooks"]>();
});

/** Compiled, and never called. */
const wrong = () => [
  // @ts-expect-error: the schema has no such model
  vue.useQuery("tusk"),
  // @ts-expect-error: nor such a field
  vue.useQuery("task", () => ({ where: { titel: "One" } })),
  // @ts-expect-error: a title is a string
  svelte.useMutation("task").create({ title: 1 }),
  // @ts-expect-error: nor such a field
  svelte.useLoad("task", { titel: "One" }),
  // @ts-expect-error: the schema has no such model
  solid.useClaim("tusk", "t1"),
  // @ts-expect-error: nor such a field
  solid.useCount("task", () => ({ where: { titel: "One" } })),
];

test("[BN15] what the schema lacks does not compile", () => {
  expectTypeOf(wrong).toBeFunction();
});
