import type { FieldDraft } from "@holdfast/react";
import type { ChangeEvent, ComponentProps } from "react";

export const Button = (props: ComponentProps<"button">) => <button type="button" {...props} />;

type Named = readonly { readonly id: string; readonly name: string }[];
type OneOfProps = { label: string; of: Named; value: string; none?: string; choose: (id: string) => void };
type SomeOfProps = { label: string; of: Named; ids: readonly string[]; choose: (ids: readonly string[]) => void };

/** One of them; or none, as an empty text, if there is a word for it. */
export const OneOf = ({ label, of, value, none, choose }: OneOfProps) => (
  <label>
    {label}
    <select value={value} onChange={({ target }) => choose(target.value)}>
      {none && <option value="">{none}</option>}
      {of.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

export function SomeOf({ label, of, ids, choose }: SomeOfProps) {
  const toggle = (id: string) => choose(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
  return (
    <fieldset>
      <legend>{label}</legend>
      {of.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" checked={ids.includes(id)} onChange={() => toggle(id)} /> {name}
        </label>
      ))}
    </fieldset>
  );
}

/** The properties of a field that shows a draft. */
export const draftOf = ({ value, set, commit }: FieldDraft) => ({
  value,
  onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => set(target.value),
  onBlur: commit,
});
