import type { Patch } from "@holdfast/sdk";
import { useEffect, useRef } from "react";
import { Comments } from "./comments.tsx";
import { Button, draftOf, OneOf, SomeOf } from "./fields.tsx";
import type { Issue } from "./filters.tsx";
import { type schema, statuses } from "./schema.ts";
import { useConflicts, useDraft, useMutation, useMyPresence, useOthers, useQuery, useRecord, useUndo } from "./sync.ts";

export function IssuePage({ id }: { id: string }) {
  const issue = useRecord("issue", id);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section aria-labelledby="heading" className="issue">
      <a href="#/">Close</a>
      <h2 id="heading" tabIndex={-1} ref={heading}>
        {issue ? issue.title : "There is no such issue in your projects."}
      </h2>
      {issue && (
        <>
          <People issue={issue} />
          <Conflicts id={id} />
          <Fields issue={issue} />
          <Comments issue={issue} />
        </>
      )}
    </section>
  );
}

/** The members of a project share a room. Each says there which issue is open. */
function People({ issue: { id, projectId } }: { issue: Issue }) {
  const room = `project:${projectId}`;
  useMyPresence(room, { issue: id });
  const others = useOthers(room, (all) => all.filter(({ state }) => state.issue === id));
  const ids = others.map(({ participantId }) => participantId);
  const people = useQuery("person", { where: { id: { in: ids } }, orderBy: "name" });
  return <p role="status">{people.map(({ name }) => `${name} is here. `)}</p>;
}

function Conflicts({ id }: { id: string }) {
  const conflicts = useConflicts((all) => all.filter((conflict) => conflict.id === id));
  return conflicts.map((conflict) => (
    <div role="alert" key={conflict.clientTxId}>
      {conflict.fields.map((field) => (
        <p key={field}>
          You and {conflict.writtenBy} both changed the {field}. You wrote “{String(conflict.mine[field])}”, now it is “
          {String(conflict.theirs?.[field])}”.
        </p>
      ))}
      <Button onClick={() => conflict.keepMine()}>Keep mine</Button>
      <Button onClick={() => conflict.takeTheirs()}>Take theirs</Button>
    </div>
  ));
}

type Status = Issue["status"];
const named = statuses.map((name) => ({ id: name, name }));

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
      <OneOf label="Status" value={issue.status} of={named} choose={(status) => change({ status: status as Status })} />
      <OneOf label="Assignee" none="no one" value={issue.assigneeId ?? ""} of={people} choose={assign} />
      <SomeOf label="Labels" of={labels} ids={issue.labelIds} choose={(labelIds) => change({ labelIds })} />
    </>
  );
}
