// The app's own backend: it has the secret key, and decides who may see what.
import { readFileSync } from "node:fs";
import { createBackend, defineSchema } from "@holdfast/sdk/backend";
import { createClient } from "@holdfast/sdk/node";
import { schema, url } from "./src/schema.ts";

const { live: key } = JSON.parse(readFileSync(".holdfast/keys.json", "utf8")) as { live: string };
export const backend = createBackend({ url, key });
await backend.pushSchema(schema);

/** A token for a person: the team's labels and people to read, its saved filters and the person's projects to write too. */
export const tokenFor = (user: string) =>
  backend.tokenFor(user, {
    syncGroups: ["team:main", ...(projectsOf.get(user) ?? [])],
    operations: ["issue.*", "comment.*", "view.*", "project.update", "person.read", "label.read"],
  });

/** The groups of each person's projects. */
let projectsOf = new Map<string, string[]>();

// The backend is a client too: it follows the projects, and a person who joins or leaves one needs another token.
const { person, project } = schema.models;
const client = createClient({
  schema: defineSchema({ models: { person, project } }),
  url,
  getToken: () => backend.tokenFor("backend", { wholeOrganization: true, operations: ["person.read", "project.read"] }),
});
await client.ready({ rows: "complete" });
client.models.project.subscribe({ orderBy: "id", include: { members: true } }, (projects) => {
  const before = projectsOf;
  projectsOf = new Map();
  for (const { id, members } of projects)
    for (const member of members) projectsOf.set(member.id, [...(projectsOf.get(member.id) ?? []), `project:${id}`]);
  for (const user of new Set([...before.keys(), ...projectsOf.keys()]))
    if (`${before.get(user)}` !== `${projectsOf.get(user)}`) void backend.revoke({ user });
});
