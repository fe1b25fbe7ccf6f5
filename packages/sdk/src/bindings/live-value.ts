import type { SyncClient } from "../api/sync-client.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";

/** What a component of any framework shows. Each component that shows it subscribes for as long as it is there. */
export interface LiveValue<T> {
  /** Returns the same value until something in it changes. */
  read(): T;
  /** Called after every change of the result above. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** A client whose schema is not known here. */
export type AnyClient = SyncClient<ModelSchema>;
