import { useId } from "react";
import { useClaim, useDraft, useMutation, useQueryState } from "./hooks.ts";
import { ClaimBadge } from "./parts/claim-badge.tsx";
import { LIST_ID, type Task } from "./schema.ts";

export function TaskList() {
  const { rows, status } = useQueryState("task", { where: { listId: LIST_ID }, orderBy: ["order", "$createdAt"] });
  const { create } = useMutation("task");
  const last = rows.at(-1)?.order ?? 0;
  return (
    <section aria-label="Tasks">
      {rows.length === 0 && <p>{status === "complete" ? "There are no tasks yet." : "Reading the tasks …"}</p>}
      <ul className="tasks">
        {rows.map((task) => (
          <TaskRow key={task.id} task={task} />
        ))}
      </ul>
      <button type="button" onClick={() => create({ listId: LIST_ID, title: "New task", order: last + 1 })}>
        Add a task
      </button>
    </section>
  );
}

function TaskRow({ task: { id, title, done } }: { task: Task & { readonly id: string } }) {
  const { update, delete: remove } = useMutation("task");
  // What a person types is written after a pause, and when they leave the field.
  const { value, set, commit } = useDraft("task", id, "title");
  // While the field has the focus, no one else can write to this task.
  const claim = useClaim("task", id);
  const badge = useId();
  const isTheirs = claim.status === "theirs";
  const leave = () => {
    commit();
    claim.release();
  };
  return (
    <li className={done ? "done" : undefined}>
      <input
        type="checkbox"
        aria-label={`Done: ${title}`}
        checked={done}
        disabled={isTheirs}
        onChange={() => update(id, { done: !done })}
      />
      <input
        aria-label="Title"
        aria-describedby={badge}
        maxLength={200}
        value={value}
        readOnly={isTheirs}
        onFocus={claim.claim}
        onChange={({ target }) => set(target.value)}
        onBlur={leave}
      />
      <ClaimBadge id={badge} claim={claim} />
      <button type="button" aria-label={`Delete: ${title}`} disabled={isTheirs} onClick={() => remove(id)}>
        Delete
      </button>
    </li>
  );
}
