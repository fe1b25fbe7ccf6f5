import type { ModelName, ModelSchema, Proposal, ProposalQuery, ProposalsApi } from "@holdfast/sdk";
import { useMemo } from "react";
import type { AnyClient } from "../model-of.ts";
import { none } from "../none.ts";
import { useClient } from "./use-client.ts";
import { useFirstOfEquals } from "./use-first-of-equals.ts";
import { useSource } from "./use-source.ts";

/** Which proposals: without anything, all open ones that the token may read. */
export interface UseProposalsQuery<S extends ModelSchema> extends Omit<ProposalQuery, "model"> {
  readonly model?: ModelName<S> | undefined;
}

export interface Proposals extends Pick<ProposalsApi, "accept" | "reject" | "withdraw"> {
  /** Oldest first; empty until they have been read. */
  readonly proposals: readonly Proposal[];
  readonly isLoading: boolean;
}

export type UseProposals<S extends ModelSchema> = (query?: UseProposalsQuery<S>) => Proposals;

/**
 * Writes that others ask for, kept up to date, and what decides them. Those that this client has decided are left out at
 * once, also without a connection.
 */
export const useProposals: UseProposals<ModelSchema> = (query = {}) => {
  const client = useClient();
  const asked = useFirstOfEquals(query);
  const live = useMemo(() => liveProposals(client, asked), [client, asked]);
  const found = useSource(live.subscribe, live.read, notYet);
  return useMemo(() => {
    const { accept, reject, withdraw } = client.proposals;
    return { proposals: found ?? none, isLoading: found === undefined, accept, reject, withdraw };
  }, [client, found]);
};

const notYet = (): readonly Proposal[] | undefined => undefined;

function liveProposals(client: AnyClient, query: ProposalQuery) {
  let now: readonly Proposal[] | undefined;
  return {
    read: () => now,
    subscribe: (listener: () => void) =>
      client.proposals.subscribe(query, (found) => {
        now = found;
        listener();
      }),
  };
}
