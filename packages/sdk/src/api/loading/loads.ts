import type { Scope } from "../../core/log/rows.ts";
import { scopeKey, scopeOf } from "../../core/log/scope-key.ts";
import { tableOf } from "../../core/log/tables.ts";
import { rowsStatus } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { Engine } from "../../engine/engine.ts";
import { localError } from "../../errors.ts";
import { followedLimits as limits } from "../../protocol/log/followed-limits.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { type Conditions, compileConditions } from "../lists/conditions.ts";
import { type Ending, until } from "../shutdown.ts";
import type { LoadedPart, LoadOptions } from "./loaded-part.ts";

/** Records that meet conditions, which some code of the app has loaded. */
interface Part {
  /** As the schema spells it. */
  readonly model: string;
  readonly conditions: FollowedConditions;
  /** How many have loaded it and not released it. */
  users: number;
  isPinned: boolean;
}

/** What of a model stays while nothing needs it, at most. */
interface Budget {
  readonly releasedParts: number;
  readonly releasedRows: number;
}

/**
 * A tab does not know what the others use. If it dropped parts when it adds its own again, two tabs could do so in turn
 * for ever.
 */
const ALL_STAY: Budget = { releasedParts: Number.POSITIVE_INFINITY, releasedRows: Number.POSITIVE_INFINITY };

export interface LoadsDeps {
  readonly engine: Engine;
  readonly ending: Ending;
  readonly settings: Budget;
  /** The scope that the app gave to `follow`: what was not loaded, and is never dropped. */
  readonly base: () => Scope;
}

const TOO_MUCH = `Up to ${limits.followedAlternatives} parts of a model can be loaded at once, with ${limits.followedLength} characters of conditions as JSON. Release some of them.`;

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
  /** Names of parts, those that were used last at the end. */
  #recent: readonly string[] = [];

  constructor(deps: LoadsDeps) {
    this.#deps = deps;
    let seen: Scope | undefined;
    deps.engine.store.subscribe(({ scope }) => {
      if (scope === seen) return;
      seen = scope;
      this.#want(ALL_STAY);
    });
  }

  load(model: string, conditions: FollowedConditions, { keep = false }: LoadOptions = {}): LoadedPart {
    const name = nameOf(model, conditions);
    const part = this.#parts.get(name) ?? { model, conditions, users: 0, isPinned: false };
    this.#parts.set(name, part);
    part.users += 1;
    this.#touch(name);
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      part.users -= 1;
      this.#touch(name);
      if (!isUsed(part) && this.#parts.get(name) === part) this.#parts.delete(name);
    };
    if (this.#want(this.#deps.settings) === "too much") {
      release();
      throw localError("invalid_options", TOO_MUCH);
    }
    part.isPinned ||= keep;
    const { engine, ending } = this.#deps;
    return { ready: until(engine.store, ending, (state) => isLoaded(state, part)), release };
  }

  #touch(name: string): void {
    this.#recent = [...this.#recent.filter((one) => one !== name), name].slice(-MOST_REMEMBERED);
  }

  /** Adds the wanted parts to the scope, if it lacks some, and drops what is over the budget. */
  #want(budget: Budget): "too much" | undefined {
    const state = this.#deps.engine.store.getState();
    const lists = Object.entries(state.scope.where ?? {}).filter(([, wanted]) => Array.isArray(wanted));
    const where = { ...state.scope.where };
    for (const [model, followed] of lists as [string, FollowedConditions[]][]) {
      const known = new Set(followed.map((conditions) => nameOf(model, conditions)));
      const missing = [...this.#parts].filter(
        ([name, part]) => isUsed(part) && part.model === model && !known.has(name),
      );
      if (missing.length === 0) continue;
      const added = missing.map(([, { conditions }]) => conditions);
      where[model] = [...this.#kept(state, model, followed, added.length, budget), ...added];
    }
    if (scopeKey({ where }) === scopeKey({ where: state.scope.where ?? {} })) return undefined;
    const isMuch = Object.values(where).some(
      (wanted) => Array.isArray(wanted) && wanted.length > limits.followedAlternatives,
    );
    if (isMuch || JSON.stringify(where).length > limits.followedLength) return "too much";
    this.#deps.engine.dispatch({ type: "followed", scope: { ...state.scope, where } });
    return undefined;
  }

  /** What stays of the parts that are followed: those in use, and the idle ones that were used last, within the budget. */
  #kept(
    state: ClientState,
    model: string,
    followed: readonly FollowedConditions[],
    added: number,
    { releasedParts, releasedRows }: Budget,
  ): FollowedConditions[] {
    const base = [ownValue(this.#deps.base().where, model) ?? []].flat().map((conditions) => nameOf(model, conditions));
    const isFixed = (name: string) => base.includes(name) || isUsed(this.#parts.get(name));
    const byName = new Map(followed.map((conditions) => [nameOf(model, conditions), conditions]));
    const idle = [...byName.keys()]
      .filter((name) => !isFixed(name))
      .sort((a, b) => this.#recent.indexOf(b) - this.#recent.indexOf(a));
    const fixed = [...byName.keys()].filter(isFixed);
    const most = Math.min(releasedParts, limits.followedAlternatives - fixed.length - added);
    const room = roomFor(state, model, releasedRows);
    const kept = idle.slice(0, Math.max(0, most)).filter((name) => room(byName.get(name) as FollowedConditions));
    return [...fixed, ...kept].map((name) => byName.get(name) as FollowedConditions);
  }
}

const isUsed = (part: Part | undefined): boolean => part !== undefined && (part.users > 0 || part.isPinned);

const nameOf = (model: string, conditions: FollowedConditions): string => `${model} ${JSON.stringify(conditions)}`;

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
function isLoaded(state: ClientState, { model, conditions }: Part): boolean {
  const { scope, rows } = state;
  if (!ownValue(scope.where, model)) return rowsStatus(state) === "complete";
  const name = nameOf(model, conditions);
  const has = ({ where }: Scope) => [ownValue(where, model) ?? []].flat().some((one) => nameOf(model, one) === name);
  return rows.position !== undefined && has(scope) && has(scopeOf(rows.scope));
}
