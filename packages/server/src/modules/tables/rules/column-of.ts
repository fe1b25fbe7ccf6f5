import type { ModelTable } from "@holdfast/sdk/protocol";

/** The column that has a field's value. */
export const columnOf = ({ columns = {} }: ModelTable, field: string): string =>
  Object.hasOwn(columns, field) ? (columns[field] as string) : snakeCase(field);

/** `deckId` → `deck_id`, `htmlURL` → `html_url`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
