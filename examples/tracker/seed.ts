// Two people, three projects, 5 000 issues. Each commit has a name, so that a second run changes nothing.
import { backend } from "./backend.ts";

type Operations = Parameters<typeof backend.commit>[0];

const projects = [
  { id: "website", name: "Website", memberIds: ["ann", "ben"] },
  { id: "app", name: "Phone app", memberIds: ["ann", "ben"] },
  { id: "office", name: "Office", memberIds: ["ann"] },
];
const people = ["Ann", "Ben"].map((name) => ({ id: name.toLowerCase(), name }));
const labels = ["bug", "idea", "design", "urgent"].map((name) => ({ id: name, name }));
const verbs = ["Mend", "Describe", "Measure", "Remove", "Translate"];
const things = ["the logo", "the search", "the start page", "the printer", "the sign-in", "the newsletter", "the menu"];

const pick = <T>(from: readonly T[], n: number) => from[n % from.length] as T;
const create = (model: string, { id, ...data }: { id: string }) => ({ action: "create" as const, model, id, data });

const issues = Array.from({ length: 5_000 }, (_, n) => ({
  id: `i${n + 1}`,
  projectId: pick(projects, n).id,
  title: `${pick(verbs, n)} ${pick(things, n)} ${n + 1}`,
  description: `It is the ${pick(["first", "second", "third"], n >> 2)} time that someone asks for this.`,
  status: pick(["todo", "done", "doing", "todo", "done"], n >> 1),
  assigneeId: pick(["ann", null, "ben"], n >> 3),
  labelIds: labels.filter((_, bit) => (n * 7) % (bit + 3) === 0).map(({ id }) => id),
}));

const all: Operations = [
  ...people.map((person) => create("person", person)),
  ...labels.map((label) => create("label", label)),
  ...projects.map((project) => create("project", project)),
  ...issues.map((issue) => create("issue", issue)),
];
for (let from = 0; from < all.length; from += 100)
  await backend.commit(all.slice(from, from + 100), { clientTxId: `seed-${from}` });
console.log(`${all.length} records are there.`);
process.exit();
