import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useRef } from "react";
import { addressOf, go, type Place } from "./address.ts";
import { Button } from "./fields.tsx";
import { filterIn, orderOf, whereOf } from "./filter.ts";
import { useMutation, useQuery, useQueryState } from "./sync.ts";

export const IssueList = memo(function IssueList({ issueId, query }: Place) {
  const filter = filterIn(query);
  const { rows, status } = useQueryState("issue", {
    where: whereOf(filter),
    search: filter.text,
    orderBy: orderOf(filter),
    include: { project: true, labels: true, assignee: true },
  });
  const box = useRef<HTMLDivElement>(null);
  const count = rows.length;
  const said = { loading: "Reading…", partial: `${count} issues, perhaps more`, complete: `${count} issues` };
  const list = useVirtualizer({ count, getScrollElement: () => box.current, estimateSize: () => 56, overscan: 4 });
  // Rows are keyed by their place: when the list changes, elements stay and only their contents are new.
  const shown = list
    .getVirtualItems()
    .flatMap(({ index, start }) => rows.slice(index, index + 1).map((issue) => ({ issue, index, start })));
  return (
    <section aria-label="Issues" className="issues">
      <div className="above">
        <span role="status">{said[status]}</span>
        <NewIssue projectId={filter.project} query={query} />
      </div>
      <div className="box" ref={box}>
        {count === 0 && status === "complete" && <p>There are no such issues in your projects.</p>}
        <ul style={{ height: list.getTotalSize() }}>
          {shown.map(({ issue: { id, title, status, project, assignee, labels }, index, start }) => (
            <li key={index} aria-setsize={count} aria-posinset={index + 1} style={{ top: start }}>
              <a href={addressOf({ issueId: id, query })} aria-current={id === issueId}>
                <span className={`chip ${status}`}>{status}</span>
                <span className="title">{title}</span>
                <span className="tags">{labels.map(({ name }) => name).join(", ")}</span>
                <small>{project?.name}</small>
                <small>{assignee?.name ?? "no one"}</small>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
});

/** Makes an issue in the chosen project, or in the first one, and opens it. */
function NewIssue({ projectId, query }: { projectId: string; query: string }) {
  const first = useQuery("project", { orderBy: "name", limit: 1 }, (projects) => projects[0]?.id ?? "");
  const { create } = useMutation("issue");
  const add = () => go({ issueId: create({ projectId: projectId || first, title: "New issue" }).id, query });
  return first && <Button onClick={add}>New issue</Button>;
}
