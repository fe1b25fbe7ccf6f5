import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import { hallmarkOf, markedBy } from "./judge-parts.ts";
import { createShelves, type Place } from "./shelves.ts";
import { type FiledEntry, followedParts, isEndKnown, type View } from "./view.ts";

/**
 * Finds the readers that an entry may be for, so that it costs nothing for all others, however many there are. Readers
 * are filed by what their views ask for: groups, models, and the values that a followed part of a model has to have.
 */
export interface ReaderIndex<Reader extends object> {
  /** `clientId`: the client that hears of its own changes, also of those that it does not follow. */
  add(reader: Reader, interest: Interest): void;
  remove(reader: Reader): void;
  /** The readers of everything. They are in no answer of `concernedBy`. */
  readonly ofEverything: ReadonlySet<Reader>;
  /** All other readers that see one of the entries or have made it, and some that have not. */
  concernedBy(entries: readonly MadeEntry[]): ReadonlySet<Reader>;
}

/** What a reader is to hear of. */
export interface Interest {
  readonly view: View;
  readonly clientId: string | null;
}

/** An entry, and the client that made it. */
export type MadeEntry = FiledEntry & { readonly clientId: string | null };

export function createReaderIndex<Reader extends object>(
  models: ReadonlyMap<string, DeclaredModel>,
): ReaderIndex<Reader> {
  const interests = new Map<Reader, Interest>();
  const ofEverything = new Set<Reader>();
  const shelves = createShelves<Reader>();

  /** Shelves of a model are for the readers that follow parts of it. */
  function* placesOf({ view, clientId }: Interest): Generator<Place> {
    if (clientId !== null) yield ["client", "", clientId];
    const followed = followedParts(view, models);
    const apartFrom = `${[...followed.keys()].sort().join(" ")} `;
    if (view.groups) for (const group of view.groups) yield ["group", apartFrom, group];
    else if (!view.models) yield ["all", apartFrom, ""];
    else for (const model of view.models) if (!followed.has(model)) yield ["model", "", model];
    for (const [key, { model, alternatives }] of followed) {
      if (view.models && !view.models.has(key)) continue;
      yield [`all ${key}`, "", ""];
      for (const group of view.groups ?? []) yield [`left ${key}`, "", group];
      for (const conditions of alternatives) {
        for (const name of Object.keys(conditions)) yield [`field of ${key}`, "", name];
        const hallmark = hallmarkOf(conditions, model);
        if (hallmark) for (const value of hallmark.values) yield [`value of ${key}`, hallmark.name, value];
        else yield [`any ${key}`, "", ""];
      }
    }
  }

  /** Where the readers of an entry are. */
  function* placesFor(entry: MadeEntry): Generator<Place> {
    const { clientId, model: key, id, verb, groups, groupsBefore } = entry;
    if (clientId !== null) yield ["client", "", clientId];
    yield ["model", "", key];
    const isOther = (apartFrom: string) => !` ${apartFrom}`.includes(` ${key} `);
    const left = groupsBefore?.filter((group) => !groups.includes(group)) ?? [];
    for (const apartFrom of shelves.boxes("all")) if (isOther(apartFrom)) yield ["all", apartFrom, ""];
    for (const apartFrom of shelves.boxes("group"))
      if (isOther(apartFrom)) for (const group of [...groups, ...left]) yield ["group", apartFrom, group];
    for (const group of left) yield [`left ${key}`, "", group];
    const declared = models.get(key);
    const isFollowed = shelves.has(`all ${key}`);
    if (!declared || !isFollowed) return;
    const { dataBefore } = entry;
    const data = entry.data();
    const changed = verb === "updated" && dataBefore === undefined ? entry.changedFields() : [];
    if (changed === null || (data === null && !isEndKnown(entry))) return yield [`all ${key}`, "", ""];
    yield [`any ${key}`, "", ""];
    for (const name of changed) yield [`field of ${key}`, "", name];
    for (const values of [dataBefore, data])
      if (values)
        for (const name of shelves.boxes(`value of ${key}`))
          for (const value of markedBy(name, declared.model, id, values)) yield [`value of ${key}`, name, value];
  }

  function remove(reader: Reader): void {
    const interest = interests.get(reader);
    if (!interest) return;
    interests.delete(reader);
    if (!ofEverything.delete(reader)) for (const place of placesOf(interest)) shelves.remove(place, reader);
  }

  return {
    ofEverything,
    add(reader, interest) {
      remove(reader);
      interests.set(reader, interest);
      const { models: some, groups, where } = interest.view;
      if (!some && !groups && !where) ofEverything.add(reader);
      else for (const place of placesOf(interest)) shelves.add(place, reader);
    },
    remove,
    concernedBy(entries) {
      const found = new Set<Reader>();
      if (interests.size === ofEverything.size) return found;
      for (const entry of entries) for (const place of placesFor(entry)) shelves.collect(place, found);
      return found;
    },
  };
}
