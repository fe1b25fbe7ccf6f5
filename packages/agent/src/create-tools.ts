import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import type { AgentTool } from "./tool.ts";
import { createToolContext, type Propose, within } from "./tool-context.ts";
import { type ClaimInput, claimRecord } from "./tools/claim-record.ts";
import { type ListInput, listRecords } from "./tools/list-records.ts";
import { type ProposalInput, readProposal } from "./tools/read-proposal.ts";
import { readRecord } from "./tools/read-record.ts";
import { type ReleaseInput, releaseRecord } from "./tools/release-record.ts";
import { type UpdateInput, updateRecord } from "./tools/update-record.ts";

export interface ToolOptions<S extends ModelSchema> {
  /** The agent's own client with its own token. Claims and writes are made in its name. */
  readonly client: SyncClient<S>;
  /** The schema of the client, or one with fewer models to limit what the agent sees. */
  readonly schema: ModelSchema;
  /** What the agent is doing, by your own name: all that these tools write and claim has it. */
  readonly run?: string | undefined;
  /** For whom the agent works, as `user:ann`. Its token has to name them in `onBehalfOf`. */
  readonly onBehalfOf?: string | undefined;
  /** Updates are proposals, which a person decides; `{ branch }` names a branch for them. Default: only if the token may only propose. */
  readonly propose?: Propose | undefined;
  /** How long to wait for the service before the model is informed that there is no answer yet. Default 10 000. */
  readonly answerMs?: number | undefined;
  /** A claim that no call has used for this long is released. Default 300 000. */
  readonly claimIdleMs?: number | undefined;
}

/** Tools for one agent. They remember the records that it has read and the claims that it holds. */
export interface ToolKit {
  /** For `tools` of the AI SDK, or for any loop that calls `execute`. */
  readonly tools: {
    readonly read_record: AgentTool<{ model: string; id: string }>;
    readonly list_records: AgentTool<ListInput>;
    readonly claim_record: AgentTool<ClaimInput>;
    readonly update_record: AgentTool<UpdateInput>;
    readonly read_proposal: AgentTool<ProposalInput>;
    readonly release_record: AgentTool<ReleaseInput>;
  };
  /** Releases all held claims; the client stays open. Takes 2 s at most. */
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;

/**
 * Creates tools with which a model edits records together with people: it reads, claims, updates and releases records,
 * and never overwrites unseen changes.
 */
export function createTools<const S extends ModelSchema>(options: ToolOptions<S>): ToolKit {
  const { schema, run, onBehalfOf, propose, answerMs = 10_000, claimIdleMs = 300_000 } = options;
  // The tools use model and field names at run time and check them against the schema's value, not its types.
  const client = options.client as unknown as SyncClient<ModelSchema>;
  for (const [name, value] of Object.entries({ answerMs, claimIdleMs }))
    if (!(typeof value === "number" && value >= 0 && value < 2 ** 31))
      throw new TypeError(`${name} must be a number of milliseconds from 0 to 24 days (got ${String(value)}).`);
  const context = createToolContext({ client, schema, worksFor: { run, onBehalfOf }, propose, answerMs, claimIdleMs });
  return {
    tools: {
      read_record: readRecord(context),
      list_records: listRecords(context),
      claim_record: claimRecord(context),
      update_record: updateRecord(context),
      read_proposal: readProposal(context),
      release_record: releaseRecord(context),
    },
    async close() {
      context.readSet.close();
      await within(context.leases.releaseAll(), CLOSE_MS);
    },
  };
}
