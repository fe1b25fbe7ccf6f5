import type { Patch } from "@holdfast/sdk";
import { addressOf, type Place } from "./address.ts";
import { Comments } from "./comments.tsx";
import { Button, draftOf, named, OneOf, SomeOf } from "./fields.tsx";
import type { Issue } from "./filter.ts";
import { type schema, statuses } from "./schema.ts";
import { useDraft, useMutation, useMyPresence, useOthers, useQuery, useRecord, useUndo } from "./sync.ts";

export function IssuePage({ issueId, query }: Place) {
  const issue = useRecord("issue", issueId);
  return (
    <section aria-labelledby="heading" className="issue">
      <a href={addressOf({ issueId: "", query })}>Close</a>
      <h2 id="heading" tabIndex={-1} ref={focus}>
        {issue ? issue.title : "There is no such issue in your projects."}
      </h2>
      {issue && (
        <>
          <People issue={issue} />
          <Fields issue={issue} />
          <Comments issue={issue} />
        </>
      )}
    </section>
  );
}

const focus = (heading: HTMLElement | null) => heading?.focus();

/** The members of a project share a room. Each says there which issue is open. */
function People({ issue: { id, projectId } }: { issue: Issue }) {
  const room = `project:${projectId}`;
  useMyPresence(room, { issue: id });
  const ids = useOthers(room, (all) => all.filter((one) => one.state.issue === id).map((one) => one.participantId));
  const people = useQuery("person", { where: { id: { in: ids } }, orderBy: "name" });
  return <p role="status">{people.map(({ name }) => `${name} is here. `)}</p>;
}

function Fields({ issue: { id, ...issue } }: { issue: Issue }) {
  const people = useQuery("person", { orderBy: "name" });
  const labels = useQuery("label", { orderBy: "name" });
  const { update } = useMutation("issue");
  const { record, undo, redo, canUndo, canRedo } = useUndo();
  const change = (patch: Patch<typeof schema, "issue">) => record(update(id, patch));
  const assign = (person: string) => change({ assigneeId: person || null });
  const title = useDraft("issue", id, "title", { onWrite: record });
  const description = useDraft("issue", id, "description", { onWrite: record });
  return (
    <>
      {canUndo && <Button onClick={undo}>Undo</Button>}
      {canRedo && <Button onClick={redo}>Redo</Button>}
      <label>
        Title
        <input maxLength={200} {...draftOf(title)} />
        {title.error instanceof Error && <small role="alert">{title.error.message}</small>}
      </label>
      <label>
        Description
        <textarea rows={6} {...draftOf(description)} />
      </label>
      <OneOf label="Status" value={issue.status} of={named(statuses)} choose={(status) => change({ status })} />
      <OneOf label="Assignee" none="no one" value={issue.assigneeId ?? ""} of={people} choose={assign} />
      <SomeOf label="Labels" of={labels} ids={issue.labelIds} choose={(labelIds) => change({ labelIds })} />
    </>
  );
}
