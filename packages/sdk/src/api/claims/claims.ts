import type { Engine } from "../../engine/engine.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import { type Lazy, use } from "../lazy.ts";
import { checkModel } from "../writes/check-model.ts";
import type { ClaimsApi, RecordClaims } from "./claims-api.ts";
import type { Collab } from "./collab.ts";

const NOT_YET: RecordClaims = { state: "unknown", why: "not-watched", holders: [], queue: [] };

/** `client.claims`. Its code is loaded on first use, so that pages without claims need not load it. */
export const claimsOn = (collab: Lazy<Collab>, engine: Engine): ClaimsApi<ModelSchema> => ({
  watch(model, ids) {
    checkModel(engine.store.getState().models, model);
    return use(collab, (made) => made.watch(model, ids));
  },
  mine: async () => (await collab.load()).ownClaims(),
  of: (model, id) => collab.now()?.claimsOf(model, id) ?? NOT_YET,
});
