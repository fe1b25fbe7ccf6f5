import type { ModuleContext } from "../../open/context.ts";
import type { DatabaseModule, Module } from "../module.ts";
import { renameProposed } from "./db/rename-proposed.ts";
import { proposalFlows } from "./flows/proposal-flows.ts";
import { CHANGES, proposalsInRounds } from "./flows/proposals-in-rounds.ts";
import { takeDecisions } from "./flows/take-decisions.ts";
import { proposalRoutes } from "./routes.ts";

/** Writes that its author asks for, and that others decide. */
export const changes = {
  name: CHANGES,
  openIn,
  schemaPushed: renameProposed,
  inRounds: proposalsInRounds,
} satisfies Module;

function openIn(ctx: ModuleContext): DatabaseModule<ReturnType<typeof proposalRoutes>> {
  const { pool, tables, hooks, schemas, cursors, submit } = ctx;
  const flows = proposalFlows({ db: pool, elsewhere: { tables, places: hooks.places }, schemas, cursors });
  return { routes: proposalRoutes(flows, submit), takeCommits: takeDecisions(flows) };
}
