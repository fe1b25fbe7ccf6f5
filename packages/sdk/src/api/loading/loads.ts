import { followsModel } from "../../core/log/followed.ts";
import { isTooMuch, listsOf, withLoaded } from "../../core/log/loaded-parts.ts";
import { partId } from "../../core/log/part-id.ts";
import { hasPart, isSameScope } from "../../core/log/parts.ts";
import type { Scope } from "../../core/log/rows.ts";
import { tableOf } from "../../core/log/tables.ts";
import { rowsStatus } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import { localError, type SyncError } from "../../errors.ts";
import { followedLimits as limits } from "../../protocol/log/followed-limits.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { type Relation, relationsOf } from "../../protocol/schema/relations.ts";
import { type Conditions, compileConditions } from "../lists/conditions.ts";
import { isCovered } from "../lists/query-status.ts";
import { type Ending, until } from "../shutdown.ts";
import { IncludedParts } from "./included-parts.ts";
import type { AnyInclude, AnyLoadOptions, LoadedPart } from "./loaded-part.ts";

type Where = NonNullable<Scope["where"]>;

/** Records that meet conditions, which some code of the app has loaded. */
interface Part {
  /** As `follow` spells it. */
  readonly model: string;
  readonly conditions: FollowedConditions;
  /** How many need it: those that have loaded it and not released it, and all that keep it. */
  users: number;
}

export interface LoadsDeps {
  readonly engine: Engine;
  readonly ending: Ending;
  /** What of a model stays while nothing needs it, at most. */
  readonly settings: { readonly releasedParts: number; readonly releasedRows: number };
}

const TOO_MUCH = `Up to ${limits.loadedParts} parts can be loaded at once, with ${limits.loadedLength} characters of conditions as JSON. Release some of them.`;

const NO_LIST =
  "The client cannot load parts of this model, because its `follow.where` has no list for the model. Add an empty list, for example follow: { where: { issue: [] } }.";

const RELEASED =
  "The part was released before its records were read. Load it again, and release it only when the page no longer shows it.";

/** Names whose order is known. More parts of all models together are never followed: their conditions are too long. */
const MOST_REMEMBERED = 500;

/**
 * What the app has loaded: parts of the models of which `follow` names a list of conditions. The wanted scope is all
 * that is known of them, and all tabs share it: so this needs no messages of its own. A tab that finds a part missing
 * that it wants adds it again.
 *
 *   load ──► used ──release──► idle ──over the budget──► dropped
 *              ▲                 │
 *              └───── load ──────┘
 */
export class Loads {
  readonly #deps: LoadsDeps;
  readonly #parts = new Map<string, Part>();
  readonly #included = new Map<string, { readonly parts: IncludedParts; users: number }>();
  /** Names of parts, those that were used last at the end. */
  #recent: readonly string[] = [];

  constructor(deps: LoadsDeps) {
    this.#deps = deps;
    let seen: Scope | undefined;
    deps.engine.store.subscribe(({ scope }) => {
      if (scope === seen) return;
      seen = scope;
      this.#want("add");
    });
  }

  /** A part, and what its records include. */
  load(model: string, conditions: FollowedConditions, { include = {}, ...options }: AnyLoadOptions = {}): LoadedPart {
    const relations = relationsIn(include, this.#deps.engine.store.getState(), model);
    const part = this.#loadOne(model, conditions, options);
    if (relations.length === 0) return part;
    const included = relations.map((relation) => this.#include(model, conditions, relation));
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      part.release();
      for (const one of included) one.release();
    };
    const ready = part.ready
      .then(async () => void (await Promise.all(included.map((one) => one.ready()))))
      .catch((error: unknown) => {
        release();
        throw error;
      });
    return { ready, release: options.keep ? () => {} : release };
  }

  /** What the records of a part include is loaded once for all who ask for it. */
  #include(
    model: string,
    conditions: FollowedConditions,
    relation: Relation,
  ): Pick<IncludedParts, "ready" | "release"> {
    const { engine } = this.#deps;
    const name = `${partId(tableOf(model), conditions)} ${JSON.stringify(relation)}`;
    const meets = compileConditions(model, engine.store.getState().models[tableOf(model)], conditions as Conditions);
    const load = (other: string, named: FollowedConditions) => this.#loadOne(other, named, {});
    const shared = this.#included.get(name) ?? {
      parts: new IncludedParts({ engine, load }, { model, meets }, relation),
      users: 0,
    };
    this.#included.set(name, shared);
    shared.users += 1;
    return {
      ready: () => shared.parts.ready(),
      release: () => {
        shared.users -= 1;
        if (shared.users > 0) return;
        this.#included.delete(name);
        shared.parts.release();
      },
    };
  }

  #loadOne(given: string, conditions: FollowedConditions, { keep = false }: AnyLoadOptions): LoadedPart {
    const { engine, ending } = this.#deps;
    const state = engine.store.getState();
    const { where = {} } = state.scope;
    const model = Object.keys(where).find((one) => tableOf(one) === tableOf(given)) ?? given;
    const name = partId(model, conditions);
    const part = this.#parts.get(name) ?? { model, conditions, users: 0 };
    if (!canBeFollowed(part, state)) throw localError("invalid_options", NO_LIST);
    this.#parts.set(name, part);
    part.users += 1;
    this.#touch(name);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      part.users -= 1;
      this.#touch(name);
      if (!isUsed(part) && this.#parts.get(name) === part) this.#parts.delete(name);
    };
    if (this.#want("load") === "too much") {
      end();
      throw localError("invalid_options", TOO_MUCH);
    }
    let refusal: SyncError | undefined;
    const isDecided = (now: ClientState) => {
      refusal = refusalOf(part, now);
      return refusal !== undefined || isLoaded(now, part);
    };
    const ready = until(engine.store, ending, isDecided).then(() => {
      if (!refusal) return;
      end();
      throw refusal;
    });
    return { ready, release: keep ? () => {} : end };
  }

  /** What the app follows from now on, and what this tab has loaded before. */
  withLoaded(followed: Scope): Scope {
    const { scope } = this.#deps.engine.store.getState();
    const where = Object.entries(scope.where ?? {}).map(([model, wanted]) => {
      const isLoaded = (one: FollowedConditions) => this.#recent.includes(partId(model, one));
      return [model, Array.isArray(wanted) ? wanted.filter(isLoaded) : wanted] as const;
    });
    return withLoaded(followed, { ...scope, where: Object.fromEntries(where) });
  }

  #touch(name: string): void {
    this.#recent = [...this.#recent.filter((one) => one !== name), name].slice(-MOST_REMEMBERED);
  }

  /**
   * Adds the parts in use that the scope lacks. Only a load also drops what is over the budget: a tab does not know what
   * the others use, so two of them that dropped while they add would do so to each other without end. For the same
   * reason a part of which another tab has taken the place is added only when there is room again.
   */
  #want(why: "load" | "add"): "too much" | undefined {
    const state = this.#deps.engine.store.getState();
    let where: Where = { ...state.scope.where };
    for (const model of Object.keys(where)) {
      const followed = where[model];
      if (!Array.isArray(followed)) continue;
      const used = [...this.#parts.values()].filter((part) => isUsed(part) && part.model === model);
      const missing = used.filter((part) => !isIn(state.scope, part));
      if (missing.length === 0) continue;
      let wanted = why === "load" ? this.#kept(state, model, followed, missing.length) : followed;
      for (const { conditions } of missing) {
        const more = { ...where, [model]: [...wanted, conditions] };
        const fitting = why === "load" ? this.#fitting(more) : !isTooMuch(more) && more;
        if (fitting) {
          where = fitting;
          wanted = fitting[model] as FollowedConditions[];
        } else if (why === "load") return "too much";
      }
    }
    const scope = { ...state.scope, where };
    if (state.scope.where && !isSameScope(scope, state.scope))
      this.#deps.engine.dispatch({ type: "partsWanted", scope });
    return undefined;
  }

  /** What stays of the parts that are followed: those in use, and the idle ones that were used last, within the budget. */
  #kept(
    state: ClientState,
    model: string,
    followed: readonly FollowedConditions[],
    added: number,
  ): FollowedConditions[] {
    const isFixed = this.#isFixed(model);
    const byName = new Map(followed.map((conditions) => [partId(model, conditions), conditions]));
    const idle = [...byName.keys()].filter((name) => !isFixed(name)).sort((a, b) => this.#age(a) - this.#age(b));
    const fixed = [...byName.keys()].filter(isFixed);
    const { releasedParts, releasedRows } = this.#deps.settings;
    const most = Math.min(releasedParts, limits.loadedParts - fixed.length - added);
    const room = roomFor(state, model, releasedRows);
    const kept = idle.slice(0, Math.max(0, most)).filter((name) => room(byName.get(name) as FollowedConditions));
    return [...fixed, ...kept].map((name) => byName.get(name) as FollowedConditions);
  }

  /** Without the idle parts of any model, those used longest ago first, for which there is no room. Undefined: none is left. */
  #fitting(where: Where): Where | undefined {
    if (!isTooMuch(where)) return where;
    const idle = listsOf(where).flatMap(([model, parts]) => {
      const isFixed = this.#isFixed(model);
      return parts.filter((part) => !isFixed(partId(model, part))).map((part) => ({ model, parts, part }));
    });
    const age = ({ model, part }: (typeof idle)[number]) => this.#age(partId(model, part));
    const [oldest] = idle.sort((a, b) => age(b) - age(a));
    if (!oldest) return undefined;
    const { model, parts, part } = oldest;
    return this.#fitting({ ...where, [model]: parts.filter((one) => one !== part) });
  }

  /** Whether a part of the model is in use, or one that `follow` names. */
  #isFixed(model: string): (name: string) => boolean {
    const { followed } = this.#deps.engine.store.getState();
    const named = conditionsOf(followed, model).map((conditions) => partId(model, conditions));
    return (name) => named.includes(name) || isUsed(this.#parts.get(name));
  }

  /** How many were used since; of what another tab has loaded, more than of all others. */
  #age(name: string): number {
    const at = this.#recent.indexOf(name);
    return at < 0 ? MOST_REMEMBERED : this.#recent.length - at;
  }
}

/** The relations that are asked for. */
function relationsIn(include: AnyInclude, { models, scope }: ClientState, model: string): readonly Relation[] {
  const known = relationsOf(models, model);
  return Object.entries(include).flatMap(([name, wanted]) => {
    const relation = known.get(name);
    if (!relation) throw localError("invalid_options", `The model "${model}" has no relation "${name}".`);
    if (!wanted) return [];
    if (followsModel(scope, relation.model)) return [relation];
    throw localError("invalid_options", `The client does not follow "${relation.model}", which "${name}" includes.`);
  });
}

const isUsed = (part: Part | undefined): boolean => part !== undefined && part.users > 0;

/** Tells of one part after the other whether its rows still fit into the budget. */
function roomFor({ rows, models }: ClientState, model: string, most: number): (part: FollowedConditions) => boolean {
  const table = ownValue(rows.tables, tableOf(model));
  // Most clients stay far below it, and need not count.
  if (!table || table.size <= most) return () => true;
  let left = most;
  return (part) => {
    const meets = compileConditions(model, models[tableOf(model)], part as Conditions);
    for (const [id, { data }] of table.entries()) if (meets({ ...data, id })) left -= 1;
    return left >= 0;
  };
}

/** Whether the rows contain all records of a part. */
function isLoaded(state: ClientState, part: Part): boolean {
  const { model } = part;
  const { scope, rows, models } = state;
  const followed = ownValue(scope.where, model);
  if (!followed) return rowsStatus(state, "parts") === "complete" && followsModel(scope, model);
  if (rows.position === undefined) return false;
  const { scope: there = {} } = rows;
  if (!Array.isArray(followed)) return isAllFollowed(part, there, models);
  return isIn(scope, part) && isIn(there, part);
}

const isIn = (scope: Scope, { model, conditions }: Part): boolean => hasPart(scope, model, conditions);

/** Why a part that was loaded will never be ready. */
function refusalOf(part: Part, state: ClientState): SyncError | undefined {
  if (!canBeFollowed(part, state)) return localError("invalid_options", NO_LIST);
  const isList = Array.isArray(ownValue(state.scope.where, part.model));
  const isDropped = isList && !isUsed(part) && !isIn(state.scope, part);
  return isDropped ? localError("discarded", RELEASED) : undefined;
}

/** What a scope asks of a model's records. */
const conditionsOf = ({ where }: Scope, model: string): readonly FollowedConditions[] =>
  [ownValue(where, model) ?? []].flat();

/** Whether all records of a part are followed, or can be if it is added. */
function canBeFollowed(part: Part, { scope, models }: ClientState): boolean {
  const isList = Array.isArray(ownValue(scope.where, part.model));
  return isList ? followsModel(scope, part.model) : isAllFollowed(part, scope, models);
}

/** Whether all records of a part are followed. */
function isAllFollowed({ model, conditions }: Part, scope: Scope, models: ClientState["models"]): boolean {
  const followed = ownValue(scope.where, model);
  const schema = models[tableOf(model)];
  return (
    followsModel(scope, model) && (!followed || isCovered(conditions, { parts: [followed].flat(), model, schema }))
  );
}
