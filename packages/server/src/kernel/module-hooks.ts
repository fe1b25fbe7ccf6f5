import type { InRounds } from "./commits/flows/in-rounds.ts";
import type { RecordPlaces } from "./lists/flows/record-places.ts";
import type { OfRecord } from "./log/flows/read-record.ts";
import type { OrganizationCreated } from "./organizations/flows/operator-flows.ts";
import type { PushFollowers } from "./schema/flows/push-schema.ts";
import type { TokenFollowers } from "./tokens/flows/end-tokens.ts";

/** What modules do with tenants, wherever that happens: in a server, or in a command on its database. */
export interface ModuleHooks extends PushFollowers {
  /** Where they have the records of some models. */
  readonly places: RecordPlaces;
  readonly tokensEnded: TokenFollowers;
  readonly organizationCreated: readonly OrganizationCreated[];
  /** What they say of a record that is read. */
  readonly ofRecord: readonly OfRecord[];
  /** In the order in which they are asked. */
  readonly inRounds: readonly InRounds[];
}
