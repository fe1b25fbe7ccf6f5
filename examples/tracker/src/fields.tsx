import type { FieldDraft } from "@holdfast/react";
import type { ChangeEvent, ComponentProps } from "react";

export const Button = (props: ComponentProps<"button">) => <button type="button" {...props} />;

type Choices<Id extends string> = readonly { readonly id: Id; readonly name: string }[];
type OneOf<Id extends string> = { label: string; of: Choices<Id>; value: string; none?: string; choose(id: Id): void };
type SomeOf = { label: string; of: Choices<string>; ids: readonly string[]; choose(ids: readonly string[]): void };

export const named = <Id extends string>(ids: readonly Id[]): Choices<Id> => ids.map((id) => ({ id, name: id }));

/** One of them; or none, as an empty text, if there is a word for it. */
export const OneOf = <Id extends string>({ label, of, value, none, choose }: OneOf<Id>) => (
  <label>
    {label}
    <select value={value} onChange={({ target }) => choose(target.value as Id)}>
      {[...(none ? [{ id: "", name: none }] : []), ...of].map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {value && of.every(({ id }) => id !== value) && <option value={value}>unknown</option>}
    </select>
  </label>
);

export function SomeOf({ label, of, ids, choose }: SomeOf) {
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
