import { conditionsOn } from "../../core/log/followed.ts";
import type { Scope } from "../../core/log/rows.ts";
import { type RecordRef, refOf, tableOf } from "../../core/log/tables.ts";
import type { ClientState } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import { clientLimits } from "../../protocol/client-limits.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { followedLimits as limits } from "../../protocol/log/followed-limits.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Relation } from "../../protocol/schema/relations.ts";
import { valuesOf } from "../lists/value-indexes.ts";
import type { LoadedPart } from "./loaded-part.ts";

/** Whose related records are loaded. */
export interface IncludingPart {
  readonly model: string;
  meets(data: JsonObject): boolean;
}

export interface IncludedPartsDeps {
  readonly engine: Engine;
  load(model: string, conditions: FollowedConditions): LoadedPart;
}

interface Piece {
  readonly values: readonly string[];
  readonly part: LoadedPart;
}

/** Characters of one piece as JSON: it is a part like another, which an address names with what `follow` asks for. */
const PIECE_LENGTH = 3_000;
/** Small pieces are joined when there are so many more than are needed. */
const SPARE = 8;

/**
 * The records of one relation of a part's records: parts of their own, whose conditions name the ids. As records come to
 * the part, further ones are loaded for them; the pieces of those that are gone are released.
 */
export class IncludedParts {
  readonly #deps: IncludedPartsDeps;
  readonly #of: IncludingPart;
  readonly #relation: Relation;
  /** Id of a record of the part → what it is related by. */
  readonly #values = new Map<string, readonly string[]>();
  readonly #pieces = new Set<Piece>();
  readonly #pieceOf = new Map<string, Piece>();
  readonly #end: () => void;
  #table: object | undefined;
  #scope: Scope | undefined;
  /** Why some of it could not be loaded. It is tried again with each change. */
  #refusal: unknown;
  /** To load a piece changes the state. `again`: it has, so all is looked at once more. */
  #settling: "no" | "yes" | "again" = "no";

  constructor(deps: IncludedPartsDeps, of: IncludingPart, relation: Relation) {
    this.#deps = deps;
    this.#of = of;
    this.#relation = relation;
    this.#end = deps.engine.store.subscribe((state) => this.#note(state));
    this.#note(deps.engine.store.getState());
  }

  /** Resolves when what is related to the present records is there. */
  async ready(): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal;
    await Promise.all([...this.#pieces].map(({ part }) => part.ready));
  }

  release(): void {
    this.#end();
    for (const { part } of this.#pieces) part.release();
    this.#pieces.clear();
  }

  #note(state: ClientState): void {
    if (this.#settling !== "no") {
      this.#settling = "again";
      return;
    }
    const { model } = this.#of;
    const table = ownValue(state.rows.tables, tableOf(model));
    if (table === this.#table && state.scope === this.#scope) return;
    const isKnown = this.#table !== undefined && state.touched !== "everything";
    const isSame = table === this.#table;
    this.#table = table;
    this.#scope = state.scope;
    if (!isSame && isKnown) for (const key of state.touched) this.#noteRecord(refOf(key), state);
    else if (!isSame) {
      this.#values.clear();
      for (const [id] of table?.entries() ?? []) this.#noteRecord({ model: tableOf(model), id }, state);
    }
    this.#settling = "yes";
    this.#settle(state);
    const isChanged = (this.#settling as string) === "again";
    this.#settling = "no";
    if (!isChanged) return;
    this.#table = undefined;
    this.#note(this.#deps.engine.store.getState());
  }

  #noteRecord({ model, id }: RecordRef, { rows }: ClientState): void {
    if (model !== tableOf(this.#of.model)) return;
    const data = ownValue(rows.tables, model)?.get(id)?.data;
    if (data && this.#of.meets({ ...data, id })) this.#values.set(id, this.#relatedBy(id, data));
    else this.#values.delete(id);
  }

  #relatedBy(id: string, data: JsonObject): readonly string[] {
    const { kind, field } = this.#relation;
    if (kind === "inverse") return [id];
    // What is longer is the id of no record.
    const isId = (value: unknown): value is string =>
      typeof value === "string" && value.length <= clientLimits.idLength;
    return [data[field] ?? []].flat().filter(isId);
  }

  #settle({ scope, models }: ClientState): void {
    const { model, field, kind } = this.#relation;
    this.#refusal = undefined;
    // The client has the model as a whole, or what one condition leaves of it.
    if (!Array.isArray(conditionsOn(scope, model))) return;
    const wanted = new Set([...this.#values.values()].flat());
    for (const piece of [...this.#pieces]) if (!piece.values.some((value) => wanted.has(value))) this.#drop(piece);
    // The items of an array are asked for one by one.
    const isArray = kind === "inverse" && models[tableOf(model)]?.fields[field]?.type === "array";
    if (isArray) {
      for (const value of wanted) if (!this.#pieceOf.has(value)) this.#add([value], { contains: value });
      return;
    }
    if (this.#pieces.size > 2 * Math.ceil(wanted.size / limits.followedValues) + SPARE) this.#join(wanted);
    for (const values of this.#known(scope)) if (this.#isWorth(values, wanted)) this.#add(values);
    for (const values of inPieces([...wanted].filter((value) => !this.#pieceOf.has(value)))) this.#add(values);
  }

  /** Those that grew one by one. They stay until what takes their place is there, if there is room for both. */
  #join(wanted: ReadonlySet<string>): void {
    const small = [...this.#pieces].filter(({ values }) => 2 * values.length < limits.followedValues);
    for (const piece of small) this.#forget(piece);
    const release = () => {
      for (const { part } of small) part.release();
    };
    const joined = inPieces(small.flatMap(({ values }) => values.filter((value) => wanted.has(value))));
    if (joined.every((values) => this.#add(values))) {
      const there = this.ready();
      there.then(release, release);
      return;
    }
    release();
    this.#refusal = undefined;
  }

  /** False: there is no room. */
  #add(values: readonly string[], asked: FollowedConditions[string] = { in: [...values] }): boolean {
    const { model, field, kind } = this.#relation;
    try {
      const part = this.#deps.load(model, { [kind === "inverse" ? field : "id"]: asked });
      part.ready.catch(() => {});
      const piece = { values, part };
      this.#pieces.add(piece);
      for (const value of values) this.#pieceOf.set(value, piece);
      return true;
    } catch (error) {
      this.#refusal = error;
      return false;
    }
  }

  #drop(piece: Piece): void {
    this.#forget(piece);
    piece.part.release();
  }

  #forget(piece: Piece): void {
    this.#pieces.delete(piece);
    for (const value of piece.values) if (this.#pieceOf.get(value) === piece) this.#pieceOf.delete(value);
  }

  /** What the device has already, from before a reload: it is not read again. */
  *#known({ where }: Scope): Iterable<readonly string[]> {
    const { model, field, kind } = this.#relation;
    const parts = [ownValue(where, model) ?? []].flat();
    for (const { [kind === "inverse" ? field : "id"]: asked, ...others } of parts) {
      const values = Object.keys(others).length === 0 ? valuesOf(asked) : undefined;
      if (values && values.length > 1 && values.every((value) => typeof value === "string")) yield values as string[];
    }
  }

  /** Whether most of a piece is wanted and in no other. */
  #isWorth(values: readonly string[], wanted: ReadonlySet<string>): boolean {
    const useful = values.filter((value) => wanted.has(value) && !this.#pieceOf.has(value));
    return 2 * useful.length > values.length;
  }
}

function inPieces(values: readonly string[]): readonly (readonly string[])[] {
  const pieces: string[][] = [];
  let [last, length] = [[] as string[], 0];
  for (const value of values) {
    const more = JSON.stringify(value).length + 1;
    if (last.length === 0 || last.length >= limits.followedValues || length + more > PIECE_LENGTH) {
      last = [];
      length = 0;
      pieces.push(last);
    }
    last.push(value);
    length += more;
  }
  return pieces;
}
