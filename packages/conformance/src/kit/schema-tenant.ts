import type { ModelShape, Models } from "../environment/models.ts";
import type { SchemaExtras } from "../environment/schemas.ts";
import type { Answer } from "../protocol/answers.ts";
import { positionOf } from "../protocol/answers.ts";
import type { Kit } from "./kit.ts";

/** A tenant to push to, and a model name that only this case uses. */
export interface SchemaTenant {
  readonly name: string;
  readonly path: string;
  readonly token: string;
  /** Pushes the model in this shape; undefined removes it. */
  push(shape: ModelShape | undefined, extras?: SchemaExtras): Promise<Answer>;
  pushAll(change: (models: Models) => Models, extras?: SchemaExtras): Promise<Answer>;
  create(data: object): Promise<{ readonly id: string; readonly path: string; readonly at: number }>;
}

/** With an admin token, a new organization; otherwise the run's tenant, where the case removes the model at its end. */
export async function schemaTenant(t: Kit): Promise<SchemaTenant> {
  const name = `ConfTry${t.id().replace("-", "_")}`;
  const token = t.environment.adminToken === undefined ? t.environment.key : (await t.freshTenant()).key;
  const pushAll: SchemaTenant["pushAll"] = (change, extras) => t.environment.push(token, change, extras);
  const push: SchemaTenant["push"] = (shape, extras) =>
    pushAll(({ [name]: _, ...others }) => (shape ? { ...others, [name]: shape } : others), extras);
  t.after(() => push(undefined, { force: true }));
  const path = `/v1/models/${name}`;
  const create: SchemaTenant["create"] = async (data) => {
    const id = t.id();
    const answer = t.answered(await t.post(path, { id, data }, { token }), 200);
    return { id, path: `${path}/${id}`, at: positionOf(answer) };
  };
  return { name, path, token, push, pushAll, create };
}
