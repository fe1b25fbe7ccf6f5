import { useDraft, useMutation, useQueryState } from "@holdfast/react";
import type { Field, Json, Model } from "@holdfast/sdk";
import { useId, useMemo } from "react";

/** Shown at once: enough to look at. */
const LIMIT = 100;
/** Ids are texts, also where the table's key is a number: 2 comes before 10. */
const { compare } = new Intl.Collator("en", { numeric: true });

/**
 * The records of any model, as a table. Texts and checkboxes can be edited. A page of your own names its fields, with the
 * hooks of `createHooks<typeof schema>()`, which know their types.
 */
export function LiveTable({ name, model }: { name: string; model: Model }) {
  const { rows: all, status } = useQueryState(name);
  const rows = useMemo(() => all.toSorted((a, b) => compare(a.id, b.id)).slice(0, LIMIT), [all]);
  const heading = useId();
  const fields = Object.entries(model.fields);
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>{name}</h2>
      <table aria-labelledby={heading}>
        <thead>
          <tr>
            <th scope="col">id</th>
            {fields.map(([field]) => (
              <th key={field} scope="col">
                {field}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">{row.id}</th>
              {fields.map(([field, type]) => (
                <td key={field}>
                  <Cell model={name} id={row.id} field={field} type={type} value={row[field] as Json | undefined} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p>{status === "complete" ? "There are no records." : "Reading …"}</p>}
      {all.length > LIMIT && (
        <p>
          The first {LIMIT} of {all.length} records.
        </p>
      )}
    </section>
  );
}

interface CellProps {
  readonly model: string;
  readonly id: string;
  readonly field: string;
  readonly type: Field;
  readonly value: Json | undefined;
}

function Cell(props: CellProps) {
  const { model, id, field, type, value } = props;
  const { update } = useMutation(model);
  if (type.type === "boolean")
    return (
      <input
        type="checkbox"
        aria-label={`${field} of ${id}`}
        checked={value === true}
        onChange={() => update(id, { [field]: value !== true })}
      />
    );
  if (type.type === "string" && !type.values && !type.references) return <TextCell {...props} />;
  return value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What a person types is written after a pause, and when they leave the field. Which fields are texts, no type knows here. */
function TextCell({ model, id, field }: CellProps) {
  const { value, set, commit } = useDraft(model, id, field as never);
  return (
    <input
      aria-label={`${field} of ${id}`}
      value={value}
      onChange={({ target }) => set(target.value)}
      onBlur={() => commit()}
    />
  );
}
