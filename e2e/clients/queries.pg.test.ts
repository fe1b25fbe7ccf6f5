import { createClient, defineSchema } from "@holdfast/sdk/node";
import fc from "fast-check";
import { expect, test } from "vitest";
import { closedInTheEnd, startPeople } from "./people.ts";

const { url, key, request } = await startPeople();

const schema = defineSchema({
  models: {
    task: {
      fields: {
        title: { type: "string", nullable: true },
        effort: { type: "number", nullable: true },
        done: { type: "boolean", nullable: true },
        due: { type: "datetime", nullable: true },
        labels: { type: "array", nullable: true },
      },
    },
  },
});

const LONG = "ab".repeat(300);
const title = fc.constantFrom(
  "",
  "a",
  "ab",
  "b%_",
  "A",
  "🙂",
  "a🙂b",
  "\ud7ff",
  "\ud7ffa",
  "\u{10ffff}",
  "\u{10ffff}x",
  LONG,
  `${LONG}c`,
  null,
);
const effort = fc.constantFrom(-1, 0, 1.5, 3, null);
const done = fc.constantFrom(true, false, null);
const due = fc.constantFrom("2030-01-01T00:00:00Z", "2030-01-01T00:00:00+02:00", "2031-05-05T05:05:05.5Z", null);
const label = fc.constantFrom<unknown>("a", "ab", 1, "1", true, null, { a: 1 });

/** A condition of the client, and the parameter that says the same over HTTP. */
type Condition = readonly [field: string, condition: unknown, parameter: string];
const spelled = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const on = (field: string, values: fc.Arbitrary<unknown>, operators: readonly string[]): fc.Arbitrary<Condition> =>
  fc.oneof(
    values.map((value): Condition => [field, value, value === null ? `filter[${field}][null]=true` : ""]),
    fc
      .tuple(
        fc.constantFrom(...operators),
        values.filter((value) => value !== null),
      )
      .map(([operator, value]): Condition => [field, { [operator]: value }, spelledAs(field, operator, value)]),
    fc
      .tuple(fc.constantFrom("in", "notIn"), fc.array(values, { maxLength: 3 }))
      .map(
        ([operator, several]): Condition => [
          ...([field, { [operator]: several }, spelledAs(field, operator, several)] as const),
        ],
      ),
  );
const spelledAs = (field: string, operator: string, value: unknown) =>
  `filter[${field}][${operator}]=${encodeURIComponent(Array.isArray(value) ? JSON.stringify(value) : spelled(value))}`;

const condition = fc
  .oneof(
    on("title", title, ["not", "gt", "lte", "contains", "startsWith"]),
    on("effort", effort, ["not", "gte", "lt"]),
    on("done", done, ["not"]),
    fc
      .tuple(
        fc.constantFrom("gt", "gte", "lt", "lte"),
        due.filter((at) => at !== null),
      )
      .map(([operator, at]): Condition => ["due", { [operator]: at }, spelledAs("due", operator, at)]),
    // What is no text is spelled as JSON; a text that looks like JSON means both.
    label
      .filter((one) => one !== "1" && one !== 1)
      .map((one): Condition => ["labels", { contains: one }, spelledAs("labels", "contains", one)]),
  )
  .map(
    ([field, wanted, parameter]): Condition => [
      ...([
        field,
        wanted,
        parameter === "" ? `filter[${field}]=${encodeURIComponent(spelled(wanted))}` : parameter,
      ] as const),
    ],
  );

test("[R24] [G8] a condition finds the same records in the client and over HTTP", async () => {
  await request("POST", "/v1/schema", { ...schema, force: true });
  const rows = fc.sample(
    fc.record({ title, effort, done, due, labels: fc.option(fc.array(label, { maxLength: 3 })) }, { requiredKeys: [] }),
    { numRuns: 80, seed: 7 },
  );
  for (const [n, data] of rows.entries()) await request("POST", "/v1/models/task", { id: `t${n}`, data });
  const client = closedInTheEnd(createClient({ schema, url, getToken: () => key }));
  await client.ready({ rows: "complete" });
  expect(client.models.task.count()).toBe(80);
  await fc.assert(
    fc.asyncProperty(fc.array(condition, { minLength: 1, maxLength: 2 }), async (conditions) => {
      const [one, other] = conditions;
      const both = one?.[0] === other?.[0] ? [one] : conditions;
      const where = Object.fromEntries(both.flatMap((each) => (each ? [[each[0], each[1]]] : [])));
      const query = both.flatMap((each) => (each ? [each[2]] : [])).join("&");
      const found = await request("GET", `/v1/models/task?limit=100&${query}`);
      const ids = (found.data as { id: string }[]).map(({ id }) => id).sort();
      expect(ids, query).toEqual(
        client.models.task
          .list({ where })
          .map(({ id }) => id)
          .sort(),
      );
    }),
    { numRuns: 400 },
  );
  // Each beginning, with those right behind it among the titles.
  for (const { title: startsWith } of client.models.task.list({ where: { title: { not: null } } })) {
    const found = await request("GET", `/v1/models/task?limit=100&${spelledAs("title", "startsWith", startsWith)}`);
    const wanted = client.models.task.list({ where: { title: { startsWith: startsWith ?? "" } } });
    expect((found.data as { id: string }[]).map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
  }
  const odd = ['"\\u0000"', '"\\ud800"', "1e400", "[".repeat(5_000), '{"__proto__":1}', "9007199254740993", "%%", "\\"];
  for (const text of odd)
    for (const operator of ["contains", "startsWith", "not"])
      for (const field of operator === "contains" ? ["title", "labels"] : ["title"]) {
        const found = await request("GET", `/v1/models/task?filter[${field}][${operator}]=${encodeURIComponent(text)}`);
        expect((found.data as unknown[]).length, `${field} ${operator} ${text.slice(0, 20)}`).toBe(
          operator === "not" ? 20 : 0,
        );
      }
});
