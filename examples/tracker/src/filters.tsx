import type { RowOf, SortKey, Where } from "@holdfast/sdk";
import { Button, OneOf, SomeOf } from "./fields.tsx";
import { type schema, statuses } from "./schema.ts";
import { useCountBy, useMutation, useQuery, useRecord } from "./sync.ts";

export type Issue = RowOf<typeof schema, "issue">;

export const orders = {
  newest: [{ field: "createdAt", order: "desc" }],
  title: ["title"],
  assignee: ["assigneeId", { field: "status", by: "values" }, "title"],
  project: ["projectId", { field: "status", by: "values" }, { field: "createdAt", order: "desc" }],
} satisfies Record<string, readonly SortKey<Issue>[]>;

type Order = keyof typeof orders;
export type Filter = {
  projectId: string;
  status: string;
  labelId: string;
  assigneeId: string;
  text: string;
  order: Order;
};
export const everything: Filter = { projectId: "", status: "", labelId: "", assigneeId: "", text: "", order: "newest" };

/** An empty choice asks for nothing. */
export const whereOf = ({ projectId, status, labelId, assigneeId }: Filter): Where<Issue> => ({
  ...(projectId && { projectId }),
  ...(status && { status: status as Issue["status"] }),
  ...(labelId && { labelIds: { contains: labelId } }),
  ...(assigneeId && { assigneeId }),
});

export function Filters({ filter, change }: { filter: Filter; change: (part: Partial<Filter>) => void }) {
  const { projectId, labelId, assigneeId, order } = filter;
  const projects = useQuery("project", { orderBy: "name" });
  const people = useQuery("person", { orderBy: "name" });
  const labels = useQuery("label", { orderBy: "name" });
  const counts = useCountBy("issue", "status", { where: whereOf({ ...filter, status: "" }), search: filter.text });
  const press = (status: string) => change({ status: status === filter.status ? "" : status });
  const named = Object.keys(orders).map((name) => ({ id: name, name }));
  return (
    <nav aria-label="Filters">
      <label>
        Search
        <input type="search" value={filter.text} onChange={({ target }) => change({ text: target.value })} />
      </label>
      <fieldset>
        <legend>Status</legend>
        {statuses.map((each) => (
          <Button key={each} aria-pressed={filter.status === each} onClick={() => press(each)}>
            {each} <small>{counts.get(each) ?? 0}</small>
          </Button>
        ))}
      </fieldset>
      <OneOf label="Project" none="all" value={projectId} of={projects} choose={(id) => change({ projectId: id })} />
      <OneOf label="Label" none="all" value={labelId} of={labels} choose={(id) => change({ labelId: id })} />
      <OneOf label="Assignee" none="all" value={assigneeId} of={people} choose={(id) => change({ assigneeId: id })} />
      <OneOf label="Order" value={order} of={named} choose={(id) => change({ order: id as Order })} />
      {projectId && <Members projectId={projectId} />}
    </nav>
  );
}

/** The backend follows this field: a person who joins or leaves a project gets a token for other ones. */
function Members({ projectId: id }: { projectId: string }) {
  const project = useRecord("project", id);
  const people = useQuery("person", { orderBy: "name" });
  const { update } = useMutation("project");
  if (!project) return null;
  const { name, memberIds } = project;
  return (
    <SomeOf label={`Members of ${name}`} of={people} ids={memberIds} choose={(ids) => update(id, { memberIds: ids })} />
  );
}
