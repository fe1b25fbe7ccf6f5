import { defineSchema } from "@holdfast/sdk";

export const url = process.env.HOLDFAST_URL ?? "http://127.0.0.1:8787";
export const statuses = ["todo", "doing", "done"] as const;

// A record in the group project:<id> is seen by the members of that project, one in team:main by everyone who signs in.
const team = { groups: [{ kind: "team", from: "teamId" }] } as const;
const teamId = { type: "string", default: "main" } as const;
const ofProject = { groups: [{ kind: "project", from: "projectId" }] } as const;
const projectId = { type: "string", required: true, readonlyAfterCreate: true, references: "project" } as const;

export const schema = defineSchema({
  models: {
    person: { fields: { name: { type: "string", required: true }, teamId }, ...team },
    label: { fields: { name: { type: "string", required: true }, teamId }, ...team },
    project: {
      fields: {
        name: { type: "string", required: true },
        memberIds: { type: "array", items: "string", default: [], references: "person" },
      },
      groups: [{ kind: "project", from: "id" }],
    },
    // A saved filter, as it stands in the page's address.
    view: {
      fields: {
        name: { type: "string", required: true, minLength: 1, maxLength: 60 },
        query: { type: "string", required: true, readonlyAfterCreate: true },
        projectId: { ...projectId, required: false },
        teamId: { type: "string" },
      },
      groups: [...team.groups, ...ofProject.groups],
    },
    issue: {
      fields: {
        projectId,
        title: { type: "string", required: true, minLength: 1, maxLength: 200, index: "text" },
        description: { type: "string", default: "", merge: "text", index: "text" },
        status: { type: "enum", values: statuses, default: "todo" },
        assigneeId: { type: "string", nullable: true, references: "person" },
        labelIds: { type: "array", items: "string", default: [], references: "label" },
      },
      ...ofProject,
    },
    comment: {
      fields: {
        projectId,
        issueId: { type: "string", required: true, references: "issue", inverse: "comments" },
        authorId: { type: "string", required: true, references: "person" },
        text: { type: "string", required: true, minLength: 1 },
      },
      ...ofProject,
    },
  },
});
