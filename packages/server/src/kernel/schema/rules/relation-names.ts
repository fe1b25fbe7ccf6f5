import { type ModelSchema, relationName } from "@holdfast/sdk/protocol";

interface Fault {
  readonly model: string;
  readonly field: string;
  readonly message: string;
}

/** Queries include records by the name of a relation, so a model cannot have two of the same, nor a field of that name. */
export function faultOfRelations(models: ModelSchema["models"]): Fault | undefined {
  const fieldsOf = new Map(Object.entries(models).map(([name, { fields }]) => [name.toLowerCase(), fields]));
  const taken = new Map([...fieldsOf].map(([model, fields]) => [model, ownRelations(fields)]));
  for (const [model, { fields }] of Object.entries(models))
    for (const [field, { references, inverse }] of Object.entries(fields)) {
      if (inverse === undefined) continue;
      const fault = (message: string) => ({ model, field, message });
      if (references === undefined) return fault('Only a field with "references" can have "inverse".');
      const [others, names] = [fieldsOf.get(references.toLowerCase()), taken.get(references.toLowerCase())];
      if (inverse === "id" || (others && Object.hasOwn(others, inverse)))
        return fault(`"${references}" has a field "${inverse}": its "inverse" needs another name.`);
      if (names?.has(inverse))
        return fault(`"${references}" has another relation "${inverse}": its "inverse" needs another name.`);
      names?.add(inverse);
    }
  return undefined;
}

const ownRelations = (fields: ModelSchema["models"][string]["fields"]): Set<string> =>
  new Set(
    Object.entries(fields)
      .filter(([, { references }]) => references !== undefined)
      .map(([field]) => relationName(field, fields)),
  );
