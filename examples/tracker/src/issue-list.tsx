import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { Button } from "./fields.tsx";
import { type Filter, orders, whereOf } from "./filters.tsx";
import { useMutation, useQuery, useQueryState } from "./sync.ts";

export function IssueList({ filter, openId }: { filter: Filter; openId: string }) {
  const { rows, status } = useQueryState("issue", {
    where: whereOf(filter),
    search: filter.text,
    orderBy: orders[filter.order],
    include: { project: true, labels: true, assignee: true },
  });
  const box = useRef<HTMLDivElement>(null);
  const count = rows.length;
  const list = useVirtualizer({ count, getScrollElement: () => box.current, estimateSize: () => 48, overscan: 4 });
  // Rows are keyed by their place: when the list changes, elements stay and only their contents are new.
  const shown = list
    .getVirtualItems()
    .flatMap(({ index, start }) => rows.slice(index, index + 1).map((issue) => ({ issue, index, start })));
  return (
    <section aria-label="Issues" className="issues">
      <div className="above">
        <span role="status">
          {count} issues{status !== "complete" && ", perhaps more"}
        </span>
        <NewIssue projectId={filter.projectId} />
      </div>
      <div className="box" ref={box}>
        <ul style={{ height: list.getTotalSize() }}>
          {shown.map(({ issue: { id, title, status, project, assignee, labels }, index, start }) => (
            <li key={index} aria-setsize={count} aria-posinset={index + 1} style={{ top: start }}>
              <a href={`#/${id}`} aria-current={id === openId}>
                <span className={`chip ${status}`}>{status}</span>
                <span className="title">{title}</span>
                <span>{labels.map(({ name }) => name).join(", ")}</span>
                <small>{project?.name}</small>
                <small>{assignee?.name ?? "no one"}</small>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** Makes an issue in the chosen project, or in the first one, and opens it. */
function NewIssue({ projectId }: { projectId: string }) {
  const first = useQuery("project", { orderBy: "name", limit: 1 }, (projects) => projects[0]?.id ?? "");
  const { create } = useMutation("issue");
  const add = () => {
    const createdAt = new Date().toISOString();
    location.hash = `/${create({ projectId: projectId || first, title: "New issue", createdAt }).id}`;
  };
  return first && <Button onClick={add}>New issue</Button>;
}
