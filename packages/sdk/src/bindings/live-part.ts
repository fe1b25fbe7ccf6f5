import type { FollowedWhere } from "../api/followed-scope.ts";
import type { LoadOptions } from "../api/loading/loaded-part.ts";
import type { SyncClient } from "../api/sync-client.ts";
import type { SyncError } from "../errors.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { DataOf, ModelName } from "../protocol/schema/row-types.ts";
import type { LiveValue } from "./live-value.ts";

/** How far a part has been loaded. */
export type PartState =
  | { readonly status: "skipped" | "loading" | "ready" }
  | { readonly status: "failed"; readonly error: SyncError };

/** A part that is loaded as long as a component shows it, as `client.load` does. `"skip"` loads nothing. */
export function livePart<S extends ModelSchema, M extends ModelName<S>>(
  client: SyncClient<S>,
  model: M,
  where: FollowedWhere<DataOf<S, M>> | "skip",
  options?: LoadOptions<S, M>,
): LiveValue<PartState> {
  let state: PartState = { status: where === "skip" ? "skipped" : "loading" };
  return {
    read: () => state,
    subscribe(listener) {
      if (where === "skip") return () => {};
      let isOver = false;
      const show = (next: PartState) => {
        if (isOver) return;
        state = next;
        listener();
      };
      const fail = (error: SyncError) => show({ status: "failed", error });
      let release = () => {};
      try {
        const part = client.load(model, where, options);
        ({ release } = part);
        part.ready.then(() => show({ status: "ready" }), fail);
      } catch (error) {
        // The conditions are wrong, or too many parts are loaded. The component shows it like any other failure.
        fail(error as SyncError);
      }
      return () => {
        isOver = true;
        release();
      };
    },
  };
}
