import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { RelationsOf } from "../../protocol/schema/relations.ts";
import type { ModelName } from "../../protocol/schema/row-types.ts";

/** Records that `load` keeps up to date on this device. */
export interface LoadedPart {
  /**
   * Resolves when all records of the part are in lists. Rejects if the client is closed before, with `invalid_options` if
   * too many parts are loaded at once, or `follow` has left the records out meanwhile, and with `discarded` if the part
   * was released and dropped before it had been read.
   */
  readonly ready: Promise<void>;
  /**
   * Nothing here needs the part any more. Its records stay, and stay up to date, until other parts need the room: then
   * those that were used longest ago are removed from memory and disk.
   */
  release(): void;
}

/** What is loaded with the records of a part, by the names of relations. */
export type LoadedRelations<S extends ModelSchema, M extends ModelName<S>> = {
  readonly [N in keyof RelationsOf<S, M>]?: boolean | undefined;
};

export interface LoadOptions<S extends ModelSchema = ModelSchema, M extends ModelName<S> = ModelName<S>> {
  /** Keeps the part for as long as this client is open, also after `release`. Default false. */
  readonly keep?: boolean | undefined;
  /**
   * Also loads what these records reference, or what references them, and keeps it up to date as records come and go:
   * `load("issue", { projectId }, { include: { comments: true } })`. One level. Of models that the client has as a whole,
   * all is there already.
   */
  readonly include?: LoadedRelations<S, M> | undefined;
}

export type AnyInclude = Readonly<Record<string, boolean | undefined>>;

export interface AnyLoadOptions {
  readonly keep?: boolean | undefined;
  readonly include?: AnyInclude | undefined;
}
