import type { JsonObject } from "@holdfast/sdk";
import type { ReactElement } from "react";

/** Field by field, what is written beside what is shown without it; for a conflict, also what others wrote. */
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
            <td>{inWords(base, field)}</td>
            <td className="hd-mine">{inWords(mine, field)}</td>
            {hasTheirs && <td className="hd-other">{theirs === null ? "deleted" : inWords(theirs, field)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inWords(data: JsonObject | null | undefined, field: string): string {
  const value = data?.[field];
  if (value === undefined) return "–";
  return typeof value === "string" ? `“${value}”` : JSON.stringify(value);
}
