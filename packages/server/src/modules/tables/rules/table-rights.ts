/** What may be lacking: `usage` on the schema, the others on the whole table (not on some of its columns). */
export const PRIVILEGES = ["usage", "select", "insert", "update", "delete", "trigger"] as const;
export type Privilege = (typeof PRIVILEGES)[number];

/** What our role may do with an attached table or one of its partitions. All names are SQL names. */
export interface TableRights {
  readonly role: string;
  readonly schema: string;
  readonly table: string;
  readonly relation: number;
  /** False: a partition of the attached table. */
  readonly isRoot: boolean;
  /** It has partitions. */
  readonly isPartitioned: boolean;
  /** Our role owns it, itself or as a member of the owner. */
  readonly owned: boolean;
  /** Row level security shows our role only some of the rows. */
  readonly hidesRows: boolean;
  /** Our triggers on it. */
  readonly triggers: readonly string[];
  readonly lacks: readonly Privilege[];
}

/** What a command does with the table (`drop`: detaches it with its records); `write`: what the server does for clients. */
export type TableTask = "attach" | "verify" | "repair" | "detach" | "drop" | "write";

/** What tasks need of the table itself. */
const NEEDS: Readonly<Record<TableTask, readonly Privilege[]>> = {
  attach: ["usage", "select", "trigger"],
  verify: ["usage", "select"],
  // Locks rows, and so the order of its entries is that of the caller's own writes.
  repair: ["usage", "select", "update"],
  // To copy the values; and for the triggers what `drop` needs.
  detach: ["usage", "select"],
  drop: ["usage", "trigger"],
  write: ["usage", "select", "insert", "update", "delete"],
};

/** Why our role cannot do a task: a sentence for each schema and table, with the statement that gives the right. */
export function missingRights(task: TableTask, rights: readonly TableRights[]): string[] {
  const lacking = rights.map((one) => ({ ...one, missing: needed(task, one).filter((p) => one.lacks.includes(p)) }));
  const schemas = lacking.flatMap(({ role, schema, missing }) =>
    missing.includes("usage")
      ? `The role ${role} lacks USAGE on the schema ${schema}: run "grant usage on schema ${schema} to ${role}".`
      : [],
  );
  const tables = lacking.flatMap((one) => {
    const missing = one.missing.filter((privilege) => privilege !== "usage");
    return missing.length === 0
      ? []
      : `${lackingOnTable(one, missing)}${isDetaching(task) && missing.includes("trigger") ? dropThere(one) : ""}.`;
  });
  const hidden = rights.flatMap(({ role, table, isRoot, hidesRows }) =>
    isRoot && hidesRows && NEEDS[task].includes("select")
      ? `Row level security hides rows of ${table} from the role ${role}: run "create policy holdfast on ${table} to ${role} using (true) with check (true)".`
      : [],
  );
  return [...new Set(schemas), ...tables, ...hidden];
}

/** What clients cannot do with the table's records. */
export function deniedWrites(rights: readonly TableRights[]): string[] {
  return rights.flatMap((one) => {
    const missing = NEEDS.write.filter(
      (privilege) => one.isRoot && one.lacks.includes(privilege) && privilege in CLIENT_ACTIONS,
    );
    if (missing.length === 0) return [];
    const actions = missing.map((privilege) => CLIENT_ACTIONS[privilege as keyof typeof CLIENT_ACTIONS]);
    return `Clients cannot ${listed(actions, "or")} its records. ${lackingOnTable(one, missing)}.`;
  });
}

const CLIENT_ACTIONS = { insert: "create", update: "update", delete: "delete" };

/** Whether a partition came after the table was attached. */
export const lacksTriggers = (rights: readonly TableRights[]): boolean =>
  rights.some(({ isRoot, triggers }) => !isRoot && triggers.length === 0);

/** Partitions are read and written through their table: only their triggers are their own. */
function needed(task: TableTask, { isRoot, owned, triggers }: TableRights): readonly Privilege[] {
  const onTable = NEEDS[task].filter((privilege) => isRoot || privilege === "usage" || privilege === "trigger");
  // Repairing installs what a partition that came later lacks.
  if (task === "repair" && !isRoot && triggers.length === 0) return ["usage", "trigger"];
  if (!isDetaching(task)) return isRoot || task === "attach" ? onTable : [];
  // An owner drops triggers without any other right.
  const forTriggers = triggers.length === 0 ? [] : owned ? (["usage"] as const) : NEEDS.drop;
  return [...new Set([...forTriggers, ...(task === "detach" && isRoot ? NEEDS.detach : [])])];
}

const isDetaching = (task: TableTask): boolean => task === "detach" || task === "drop";

const lackingOnTable = ({ role, table }: TableRights, missing: readonly Privilege[]): string =>
  `The role ${role} lacks ${listed(
    missing.map((privilege) => privilege.toUpperCase()),
    "and",
  )} on ${table}: run "grant ${missing.join(", ")} on ${table} to ${role}"`;

const dropThere = ({ table, triggers }: TableRights): string =>
  `, or let the table's owner run "${triggers.map((name) => `drop trigger ${name} on ${table};`).join(" ")}"`;

const listed = (words: readonly string[], last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
