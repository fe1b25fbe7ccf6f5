import { addressOf, go, type Place } from "./address.ts";
import { Button, named, OneOf, SomeOf } from "./fields.tsx";
import { type Filter, filterIn, orderNames, queryOf, whereOf } from "./filter.ts";
import { statuses } from "./schema.ts";
import { useCountBy, useMutation, useQuery } from "./sync.ts";

export function Filters({ issueId, query }: Place) {
  const filter = filterIn(query);
  const { project, label, assignee, text, order } = filter;
  const projects = useQuery("project", { orderBy: "name" });
  const people = useQuery("person", { orderBy: "name" });
  const labels = useQuery("label", { orderBy: "name" });
  const counts = useCountBy("issue", "status", { where: whereOf({ ...filter, status: "" }), search: text });
  const { update } = useMutation("project");
  const chosen = projects.find(({ id }) => id === project);
  // The backend follows this field: a person who joins or leaves a project gets a token for other ones.
  const join = (memberIds: readonly string[]) => chosen && update(chosen.id, { memberIds });
  // Back leads to what was shown before a search, and not from letter to letter.
  const change = (part: Partial<Filter>) =>
    go({ issueId, query: queryOf({ ...filter, ...part }) }, text && "text" in part ? "replaceState" : "pushState");
  const press = (status: Filter["status"]) => change({ status: status === filter.status ? "" : status });
  return (
    <nav aria-label="Filters">
      <SavedFilters issueId={issueId} query={queryOf(filter)} />
      <label>
        Search
        <input type="search" maxLength={80} value={text} onChange={({ target }) => change({ text: target.value })} />
      </label>
      <fieldset>
        <legend>Status</legend>
        {statuses.map((each) => (
          <Button key={each} aria-pressed={filter.status === each} onClick={() => press(each)}>
            {each} <small>{counts.get(each) ?? 0}</small>
          </Button>
        ))}
      </fieldset>
      <OneOf label="Project" none="all" value={project} of={projects} choose={(id) => change({ project: id })} />
      <OneOf label="Label" none="all" value={label} of={labels} choose={(id) => change({ label: id })} />
      <OneOf label="Assignee" none="all" value={assignee} of={people} choose={(id) => change({ assignee: id })} />
      <OneOf label="Order" none="newest" value={order} of={named(orderNames)} choose={(id) => change({ order: id })} />
      {chosen && <SomeOf label={`Members of ${chosen.name}`} of={people} ids={chosen.memberIds} choose={join} />}
    </nav>
  );
}

/** Filters with names. Those of one project are for its members, those of all projects for everyone. */
function SavedFilters({ issueId, query }: Place) {
  const views = useQuery("view", { orderBy: "name", locale: "en" });
  const { create, update, delete: remove } = useMutation("view");
  const projectId = filterIn(query).project;
  const saved = views.find((view) => view.query === query);
  const save = (form: FormData) => {
    const name = String(form.get("name"));
    if (saved) update(saved.id, { name });
    else create({ name, query, ...(projectId ? { projectId } : { teamId: "main" }) });
  };
  const forget = () => saved && remove(saved.id);
  return (
    <fieldset>
      <legend>Saved filters</legend>
      {[{ id: "", name: "All issues", query: "" }, ...views].map((view) => (
        <a key={view.id} href={addressOf({ issueId, query: view.query })} aria-current={view.query === query}>
          {view.name}
        </a>
      ))}
      {query && (
        <form action={save} key={query}>
          <input name="name" required maxLength={60} aria-label="Name" placeholder="Name" defaultValue={saved?.name} />
          <Button type="submit">{saved ? "Rename" : "Save this filter"}</Button>
          <Button aria-disabled={!saved} onClick={forget}>
            Delete
          </Button>
        </form>
      )}
    </fieldset>
  );
}
