import type { Datasource, DatasourceBody, DatasourceKey } from "@holdfast/sdk/protocol";
import type { Refusal } from "./refusal.ts";
import type { Principal } from "./tokens/rules/participant.ts";

/** Datasources of another kind than databases, which a module has. Each is of one environment. */
export interface DatasourceKind {
  readonly connection: Datasource["connection"];
  create(by: Principal, body: DatasourceBody): Promise<Datasource | Refusal>;
  /** Of both environments. */
  list(by: Principal): Promise<Datasource[]>;
  /** Undefined: there is none. */
  read(by: Principal, id: string): Promise<Datasource | undefined>;
  /** Undefined: it is none of this environment. */
  remove(by: Principal, id: string): Promise<"removed" | Refusal | undefined>;
  /** Undefined: it is none of this environment. */
  rotate(by: Principal, id: string, key: DatasourceKey): Promise<Datasource | Refusal | undefined>;
}
