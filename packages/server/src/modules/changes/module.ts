import type { ModuleContext } from "../../open/context.ts";
import type { DatabaseModule, Module } from "../module.ts";
import { renameProposed } from "./db/rename-proposed.ts";
import { proposalFlows } from "./flows/proposal-flows.ts";
import { CHANGES, proposalsInRounds } from "./flows/proposals-in-rounds.ts";
import { revertChanges } from "./flows/revert-changes.ts";
import { takeDecisions } from "./flows/take-decisions.ts";
import { changesRoutes } from "./routes.ts";
import { createProposalHub } from "./streams/proposal-hub.ts";
import { proposalsOnStreams } from "./streams/proposals-on-streams.ts";

/** Writes that its author asks for, and that others decide. */
export const changes = {
  name: CHANGES,
  openIn,
  schemaPushed: renameProposed,
  inRounds: proposalsInRounds,
} satisfies Module;

function openIn(ctx: ModuleContext): DatabaseModule<ReturnType<typeof changesRoutes>> {
  const { pool, tables, hooks, schemas, cursors, submit, wake, report } = ctx;
  const changed = (tenant: number) => {
    hub.changed(tenant);
    wake.proposals(tenant);
  };
  const flows = proposalFlows({ db: pool, elsewhere: { tables, places: hooks.places }, schemas, cursors });
  const hub = createProposalHub(flows, report("proposal_news_failed"));
  wake.subscribe({ proposals: hub.changed });
  return {
    routes: changesRoutes(flows, submit, revertChanges(pool, schemas, submit)),
    takeCommits: takeDecisions(flows),
    streams: proposalsOnStreams(hub),
    changed,
    forget: hub.forget,
    close: async () => hub.forget(),
  };
}
