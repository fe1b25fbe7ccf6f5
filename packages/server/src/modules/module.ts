import type { Handlers } from "../edge/http/answer.ts";
import type { Metrics } from "../edge/metrics/prometheus.ts";
import type { OpenStream } from "../edge/socket/handshake.ts";
import type { SocketModules } from "../edge/socket/socket-module.ts";
import type { StreamModules } from "../edge/socket/stream-module.ts";
import type { InRounds } from "../kernel/commits/flows/in-rounds.ts";
import type { TakeCommits } from "../kernel/commits/flows/submit-commits.ts";
import type { Database } from "../kernel/connection/pool.ts";
import type { Transaction } from "../kernel/connection/transaction.ts";
import type { DatabaseHealth } from "../kernel/database-health.ts";
import type { DatasourceKind } from "../kernel/datasource-kind.ts";
import type { RecordPlaces } from "../kernel/lists/flows/record-places.ts";
import type { OfRecord } from "../kernel/log/flows/read-record.ts";
import type { OrganizationCreated } from "../kernel/organizations/flows/operator-flows.ts";
import type { Part } from "../kernel/part.ts";
import type { CheckModels, FollowPush } from "../kernel/schema/flows/push-schema.ts";
import type { DataOf, Directory, TenantPlace, UsedDatabase } from "../kernel/tenant-data.ts";
import type { Connections } from "../open/connections.ts";
import type { ModuleContext, ServerContext } from "../open/context.ts";

/**
 * A subject beside the kernel, in a folder of its own. `modules/list.ts` names them in the order in which they are asked.
 * The kernel imports none; it calls what they have of these.
 */
export interface Module<R extends Partial<Handlers> = Partial<Handlers>> {
  readonly name: string;
  /** Where databases of tenants are beside the service's own. `db`: the service's own. */
  directory?(ctx: ServerContext, db: Database): Directory;
  /** For the whole process. */
  open?(ctx: ServiceContext): ServiceModule | Promise<ServiceModule>;
  /** For the tenants of one database. */
  openIn?(ctx: ModuleContext): DatabaseModule<R> | Promise<DatabaseModule<R>>;
  /** Where it has the records of some models. */
  readonly places?: RecordPlaces;
  /** Whether it can serve the models of a push. */
  readonly checkModels?: CheckModels;
  /** In the transaction that makes another schema the tenant's newest. */
  readonly schemaPushed?: FollowPush;
  /** In the transaction that ends tokens, now or after so many seconds. */
  tokensEnded?(tx: Transaction, tokenIds: readonly string[], graceSeconds: number): Promise<void>;
  /** In the transaction that creates an organization. */
  readonly organizationCreated?: OrganizationCreated;
  /** What it says of a record that is read. */
  readonly ofRecord?: OfRecord;
  /** In rounds of commits. */
  readonly inRounds?: InRounds;
  /** Names the numbers that it counts in the service's own database. */
  measure?(metrics: Metrics, pool: Database): void;
}

/** What modules use of the kernel for the whole process. */
export interface ServiceContext extends ServerContext {
  /** The connections to the service's own database. */
  readonly own: Connections;
  /** Which service it is. */
  readonly service: Buffer;
  readonly databases: OpenDatabases;
  readonly directory: Directory;
  /** A tenant is in another database from now on: its requests go there, and its streams open anew. */
  hasMoved(tenant: number): void;
  /** Those of all modules. */
  datasourceKinds(): readonly DatasourceKind[];
}

/** The databases with tenants. */
export interface OpenDatabases {
  readonly of: DataOf;
  /** What the module of this name has opened for the database where a tenant is. Rejects if that is away, or there is none. */
  moduleOf(name: string, tenant: TenantPlace): Promise<DatabaseModule>;
  /** Opens those that are not open, and closes all others. */
  keep(used: readonly UsedDatabase[]): Promise<void>;
  /** It has another address. */
  reopen(id: string): void;
  healthOf(id: string): DatabaseHealth;
}

export interface ServiceModule<R extends Partial<Handlers> = Partial<Handlers>> extends Part {
  readonly routes?: R;
  /** What it does on sockets. */
  readonly sockets?: SocketModules;
  /** Datasources that it has, of a kind of their own. */
  readonly datasources?: DatasourceKind;
}

export interface DatabaseModule<R extends Partial<Handlers> = Partial<Handlers>> extends Part {
  readonly routes?: R;
  /** Starts what it does in the background: all modules are open. */
  start?(): void;
  /** How it submits the commits of tenants that it takes (`inRounds`). */
  readonly takeCommits?: TakeCommits;
  /** What it does on streams. */
  readonly streams?: StreamModules;
  /** Streams of these participants are open. Called every few seconds, and when one was opened. */
  alive?(present: readonly OpenStream[]): Promise<void>;
  /** In this process, a round was committed that has changed something of the tenant which others follow (`inRounds`). */
  changed?(tenant: number): void;
  /** A tenant's log has grown in this process by this many entries, which are committed and published. */
  after?(tenant: number, entries: number): void;
}
