/** A table as Postgres' catalog describes it. Names of tables are SQL names: `public.slides`, `public."Order Details"`. */
export interface CatalogTable {
  /** Its number in the catalog. */
  readonly relation: number;
  /** The name that was given for it. */
  readonly asked: string;
  readonly schema: string;
  readonly name: string;
  readonly sqlName: string;
  readonly kind: "table" | "partitioned" | "view" | "materialized view" | "foreign";
  readonly persistence: "permanent" | "unlogged" | "temporary";
  /** `forced`: it binds the table's owner too. */
  readonly rowSecurity: "off" | "on" | "forced";
  readonly partitionOf: string | null;
  /** By inheritance, not by partition. */
  readonly parents: readonly string[];
  readonly children: readonly string[];
  /** In order. */
  readonly columns: readonly CatalogColumn[];
  /** The primary key's columns; empty if there is none. */
  readonly primaryKey: readonly string[];
  /** The primary key as SQL: `slides_pkey`, `PRIMARY KEY (id)`. */
  readonly keyConstraint: { readonly name: string; readonly definition: string } | null;
  /** Foreign keys of one column. */
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly checks: readonly CatalogCheck[];
}

export interface CatalogColumn {
  readonly name: string;
  /** The type's own name (`int4`), below domains; of an array, the name of its elements' type. */
  readonly type: string;
  readonly isArray: boolean;
  /** Of char(n) and varchar(n): n. */
  readonly length: number | null;
  /** Of an enum: its values. */
  readonly labels: readonly string[] | null;
  /** In JSON its values are objects: a composite type, or one with a cast to json, like hstore. */
  readonly isObject: boolean;
  /** Different texts may be equal in its collation. */
  readonly isLoose: boolean;
  readonly notNull: boolean;
  /** The expression of its default. */
  readonly default: string | null;
  /** `always`: a write cannot give it a value. */
  readonly identity: "always" | "by default" | null;
  readonly generated: "stored" | "virtual" | null;
  /** The checks of its domains, in which it is called VALUE. */
  readonly domainChecks: readonly string[];
}

export interface CatalogForeignKey {
  readonly column: string;
  /** The SQL name of the other table. */
  readonly table: string;
  readonly otherColumn: string;
}

export interface CatalogCheck {
  readonly columns: readonly string[];
  /** `CHECK ((price > 0))` */
  readonly definition: string;
}
