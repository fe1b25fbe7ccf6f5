/* In a batch, the `param` of a refusal begins with the operation that it is about. */

/** `operations[6]`, or `operations[6].data.title` for a field of the operation. */
export const operationParam = (index: number, field?: string): string =>
  field === undefined ? `operations[${index}]` : `operations[${index}].${field}`;

/** The index of the refused operation. Undefined if the `param` names none, as on the routes of a single record. */
export function operationIndexOf(param: string | undefined): number | undefined {
  const index = /\boperations\[(\d+)\]/.exec(param ?? "")?.[1];
  return index === undefined ? undefined : Number(index);
}
