import { shown, Unmet } from "../assertions/unmet.ts";
import type { Answer, Ask } from "../protocol/answers.ts";
import type { ModelShape, Models } from "./models.ts";

export interface SchemaExtras {
  readonly force?: boolean;
  readonly renames?: readonly { readonly model: string; readonly from: string; readonly to: string }[];
}

/** The models of a tenant; none before its first push. */
export async function readModels(ask: Ask, token: string): Promise<Models> {
  const answer = await ask("GET", "/v1/schema", { token });
  if (answer.status === 404) return {};
  if (answer.status !== 200)
    throw new Unmet("the tenant's schema", `${answer.status} ${answer.text.slice(0, 300)}`, answer);
  return answer.body.models as Models;
}

/**
 * Pushes a change of the tenant's models. A push replaces the whole schema, so it sends all other models
 * along; and pushes run one after the other, because the second would undo the first otherwise.
 */
export function createPusher(ask: Ask) {
  let turn: Promise<unknown> = Promise.resolve();
  return (token: string, change: (models: Models) => Models, extras: SchemaExtras = {}): Promise<Answer> => {
    const push = async () => {
      const models = change(await readModels(ask, token));
      return await ask("POST", "/v1/schema", { token, json: { models, ...extras } });
    };
    const pushed = turn.then(push, push);
    turn = pushed.catch(() => {});
    return pushed;
  };
}
export type Push = ReturnType<typeof createPusher>;

/** Adds models to a tenant, or throws the reason why it cannot. */
export async function addModels(push: Push, token: string, more: Models, onlyWhenAbsent: Models = {}): Promise<void> {
  const answer = await push(token, (models) => {
    const taken = new Set(Object.keys(models).map((name) => name.toLowerCase()));
    const absent = Object.entries(onlyWhenAbsent).filter(([name]) => !taken.has(name.toLowerCase()));
    const own = Object.entries(more).map(([name, model]) => [name, { ...placeOf(models[name]), ...model }]);
    return { ...models, ...Object.fromEntries([...absent, ...own]) };
  });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Unmet(`the models ${Object.keys(more).join(", ")} to be added`, shown(answer.body), answer);
}

/** Where a model's records are: models that were declared before the run keep it. */
const placeOf = ({ table, source }: Partial<ModelShape> = {}): Pick<ModelShape, "table" | "source"> => ({
  ...(table && { table }),
  ...(source !== undefined && { source }),
});
