import type { InRounds } from "./commits/in-rounds.ts";
import type { OfRecord } from "./log/read-record.ts";
import type { OrganizationCreated } from "./organizations/operator-flows.ts";
import type { PushFollowers } from "./schema/push-schema.ts";
import type { TokenFollowers } from "./tokens/end-tokens.ts";

/** What modules do with tenants, wherever that happens: in a server, or in a command on its database. */
export interface ModuleHooks extends PushFollowers {
  readonly tokensEnded: TokenFollowers;
  readonly organizationCreated: readonly OrganizationCreated[];
  /** What they say of a record that is read. */
  readonly ofRecord: readonly OfRecord[];
  /** In the order in which they are asked. */
  readonly inRounds: readonly InRounds[];
}
