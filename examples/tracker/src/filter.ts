import type { RowOf, SortKey, Where } from "@holdfast/sdk";
import { type schema, statuses } from "./schema.ts";

export type Issue = RowOf<typeof schema, "issue">;
type Order = readonly SortKey<Issue>[];

const newest: Order = [{ field: "$createdAt", order: "desc" }];
const orders: Readonly<Record<string, Order>> = {
  title: ["title"],
  assignee: ["assigneeId", { field: "status", by: "values" }, "title"],
  project: ["projectId", { field: "status", by: "values" }, ...newest],
};
export const orderNames = Object.keys(orders);
export const orderOf = ({ order }: Filter) => orders[order] ?? newest;

/** The filter in an address or in a saved one. It is only text: what does not exist counts as not chosen. */
export function filterIn(query: string) {
  const given = Object.fromEntries(new URLSearchParams(query));
  const { project = "", label = "", assignee = "", text = "" } = given;
  const status = statuses.find((each) => each === given.status) ?? "";
  const order = orderNames.find((each) => each === given.order) ?? "";
  return { project, status, label, assignee, text, order } as const;
}

export type Filter = ReturnType<typeof filterIn>;
export const queryOf = (filter: Filter) => `${new URLSearchParams(Object.entries(filter).filter(([, one]) => one))}`;

export const whereOf = ({ project, status, label, assignee }: Filter): Where<Issue> => ({
  ...(project && { projectId: project }),
  ...(status && { status }),
  ...(label && { labelIds: { contains: label } }),
  ...(assignee && { assigneeId: assignee }),
});
