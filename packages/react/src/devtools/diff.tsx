import type { JsonObject } from "@holdfast/sdk";
import type { ReactElement } from "react";
import { changedPart } from "./changed-part.ts";

/**
 * Compares field by field: the written values with the values shown without the write, and for a conflict with theirs.
 */
export function Diff(props: {
  mine: JsonObject | undefined;
  base: JsonObject | null | undefined;
  theirs?: JsonObject | null;
  caption: string;
}): ReactElement | null {
  const { mine = {}, base, theirs, caption } = props;
  const fields = Object.keys(mine).length > 0 ? Object.keys(mine) : Object.keys(base ?? {});
  if (fields.length === 0) return null;
  const hasTheirs = theirs !== undefined;
  return (
    <table aria-label={caption}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Without it</th>
          <th scope="col">Mine</th>
          {hasTheirs && <th scope="col">Theirs</th>}
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{field}</th>
            <td>
              <Value of={base} beside={mine} field={field} />
            </td>
            <td className="hd-mine">
              <Value of={mine} beside={base} field={field} />
            </td>
            {hasTheirs && (
              <td className="hd-other">
                {theirs === null ? "deleted" : <Value of={theirs} beside={base} field={field} />}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Side = JsonObject | null | undefined;

/** One side of a field. For a string that differs from the other side, the difference is marked. */
function Value({ of, beside, field }: { of: Side; beside: Side; field: string }): ReactElement {
  const value = of?.[field];
  const other = beside?.[field];
  if (value === undefined) return <>–</>;
  if (typeof value !== "string") return <>{JSON.stringify(value)}</>;
  if (typeof other !== "string") return <>“{value}”</>;
  const { head, changed, tail } = changedPart(value, other);
  return (
    <>
      “{head}
      {changed && <mark>{changed}</mark>}
      {tail}”
    </>
  );
}
