import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import type { AgentTool } from "./tool.ts";
import { createDesk, within } from "./tool-context.ts";
import { type ClaimInput, claimRecord } from "./tools/claim-record.ts";
import { type ListInput, listRecords } from "./tools/list-records.ts";
import { readRecord } from "./tools/read-record.ts";
import { type ReleaseInput, releaseRecord } from "./tools/release-record.ts";
import { type UpdateInput, updateRecord } from "./tools/update-record.ts";

export interface ToolOptions<S extends ModelSchema> {
  /** A client of the agent's own, with its own token: claims and writes are made in its name. */
  readonly client: SyncClient<S>;
  /** The schema that the client was made with; fewer models, where the agent should know of fewer. */
  readonly schema: ModelSchema;
  /** How long an answer of the service is waited for before the model is told that there is none. Default 10 000. */
  readonly answerMs?: number;
  /** A claim that no call has used for so long is released. Default 300 000. */
  readonly claimIdleMs?: number;
}

/** Tools for one agent: they remember what it has read and what it holds. */
export interface ToolKit {
  /** For `tools` of the AI SDK, or for any loop that calls `execute`. */
  readonly tools: {
    readonly read_record: AgentTool<{ model: string; id: string }>;
    readonly list_records: AgentTool<ListInput>;
    readonly claim_record: AgentTool<ClaimInput>;
    readonly update_record: AgentTool<UpdateInput>;
    readonly release_record: AgentTool<ReleaseInput>;
  };
  /** Releases every claim that is still held; the client stays open. Takes 2 s at most. */
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;

/** Tools that let a model work on records together with people: it reads, claims, updates and releases, and overwrites nobody. */
export function createTools<const S extends ModelSchema>(options: ToolOptions<S>): ToolKit {
  const { schema, answerMs = 10_000, claimIdleMs = 300_000 } = options;
  // The tools name models and fields at run time: what the schema's types would say is checked against its value.
  const client = options.client as unknown as SyncClient<ModelSchema>;
  const desk = createDesk({ client, schema, answerMs, claimIdleMs });
  return {
    tools: {
      read_record: readRecord(desk),
      list_records: listRecords(desk),
      claim_record: claimRecord(desk),
      update_record: updateRecord(desk),
      release_record: releaseRecord(desk),
    },
    async close() {
      await within(desk.holdings.releaseAll(), CLOSE_MS);
    },
  };
}
