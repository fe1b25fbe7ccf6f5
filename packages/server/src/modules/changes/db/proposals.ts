import type { ProposalStatus } from "@holdfast/sdk/protocol";
import type { Statement } from "../../../kernel/connection/statement.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { ProposalEnd, ProposedRecord, StoredOperation, StoredProposal } from "../rules/proposal.ts";

/** Which proposal. */
export interface ProposalName {
  readonly tenant: number;
  readonly id: string;
}

/** What a round has to know of a proposal that it decides. */
export interface OpenProposal extends ProposalName {
  readonly status: ProposalStatus;
  readonly decidedBy: string | null;
}

/** One that expired was open until then. */
const STATUS = "case when p.status = 'open' and p.ends_at <= clock_timestamp() then 'expired' else p.status end";

/** Locks them, so that no other decision is saved until the round is. */
export const lockProposals = (names: readonly ProposalName[]): Statement<readonly OpenProposal[]> => ({
  name: "lock_proposals",
  text: `select p.tenant, p.id, ${STATUS} as status, p.decided_by as "decidedBy"
    from unnest($1::int[], $2::text[]) as k(tenant, id)
    join holdfast.proposal p on p.tenant = k.tenant and p.id = k.id order by p.tenant, p.id for update of p`,
  values: [names.map(({ tenant }) => tenant), names.map(({ id }) => id)],
  read: (rows) => rows as unknown as OpenProposal[],
});

/** An author and its open proposals. */
export interface AuthorName {
  readonly tenant: number;
  readonly author: string;
}

export const countOpen = (
  authors: readonly AuthorName[],
): Statement<readonly (AuthorName & { readonly open: number })[]> => ({
  name: "count_open_proposals",
  text: `select k.tenant, k.author, (select count(*) from holdfast.proposal p
      where p.tenant = k.tenant and p.author = k.author and p.status = 'open' and p.ends_at > clock_timestamp()) as open
    from unnest($1::int[], $2::text[]) as k(tenant, author)`,
  values: [authors.map(({ tenant }) => tenant), authors.map(({ author }) => author)],
  read: (rows) => rows as unknown as (AuthorName & { readonly open: number })[],
});

export interface NewProposal
  extends ProposalName,
    Pick<
      StoredProposal,
      "author" | "clientTxId" | "branch" | "attribution" | "operations" | "readAt" | "createdAt" | "records"
    > {
  readonly ttlSeconds: number;
}

export const insertProposals = (made: readonly NewProposal[]): Statement<void>[] => [
  {
    name: "insert_proposals",
    text: `insert into holdfast.proposal (tenant, id, author, client_tx_id, branch, run, attribution, operations, read_at, created_at, ends_at)
      select k.tenant, k.id, k.author, k.client_tx_id, k.branch, k.run, k.attribution::json, k.operations::json, k.read_at, k.at, k.at + make_interval(secs => k.ttl)
      from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::timestamptz[], $11::int[])
        as k(tenant, id, author, client_tx_id, branch, run, attribution, operations, read_at, at, ttl)`,
    values: [
      made.map(({ tenant }) => tenant),
      made.map(({ id }) => id),
      made.map(({ author }) => author),
      made.map(({ clientTxId }) => clientTxId),
      made.map(({ branch }) => branch),
      made.map(({ attribution }) => attribution?.run ?? null),
      made.map(({ attribution }) => attribution && JSON.stringify(attribution)),
      made.map(({ operations }) => JSON.stringify(operations)),
      made.map(({ readAt }) => readAt),
      made.map(({ createdAt }) => createdAt),
      made.map(({ ttlSeconds }) => ttlSeconds),
    ],
    read: () => {},
  },
  {
    name: "insert_proposed_records",
    text: `insert into holdfast.proposed_record (tenant, proposal, model, id, groups_before, groups_after)
      select k.tenant, k.proposal, r.model, r.id,
        (select array_agg(g) from json_array_elements_text(nullif(r."groupsBefore"::text, 'null')::json) g),
        (select array_agg(g) from json_array_elements_text(nullif(r."groupsAfter"::text, 'null')::json) g)
      from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, proposal, records)
        cross join lateral json_to_recordset(k.records::json) as r(model text, id text, "groupsBefore" json, "groupsAfter" json)`,
    values: [
      made.map(({ tenant }) => tenant),
      made.map(({ id }) => id),
      made.map(({ records }) => JSON.stringify(records)),
    ],
    read: () => {},
  },
];

export interface EndedProposal extends ProposalName {
  readonly status: "accepted" | "rejected" | "withdrawn";
  readonly by: string;
  readonly at: string;
  readonly end: ProposalEnd;
}

export const saveDecided = (ended: readonly EndedProposal[]): Statement<void> => ({
  name: "save_decided_proposals",
  text: `update holdfast.proposal p set status = k.status, ends_at = k.at, decided_by = k.by, decision = k.decision::json
    from unnest($1::int[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[]) as k(tenant, id, by, at, decision, status)
    where p.tenant = k.tenant and p.id = k.id`,
  values: [
    ended.map(({ tenant }) => tenant),
    ended.map(({ id }) => id),
    ended.map(({ by }) => by),
    ended.map(({ at }) => at),
    ended.map(({ end }) => JSON.stringify(end)),
    ended.map(({ status }) => status),
  ],
  read: () => {},
});

/** Proposals have values of their records, so they are erased with them. */
export const eraseProposals = (
  records: readonly { readonly tenant: number; readonly model: string; readonly id: string }[],
): Statement<void> => ({
  name: "erase_proposals",
  text: `delete from holdfast.proposal p using holdfast.proposed_record r, unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
    where r.tenant = k.tenant and r.model = k.model and r.id = k.id and p.tenant = r.tenant and p.id = r.proposal`,
  values: [records.map(({ tenant }) => tenant), records.map(({ model }) => model), records.map(({ id }) => id)],
  read: () => {},
});

const RECORDS = `(select json_agg(json_build_object('model', r.model, 'id', r.id, 'groupsBefore', r.groups_before, 'groupsAfter', r.groups_after))
    from holdfast.proposed_record r where r.tenant = p.tenant and r.proposal = p.id) as records`;

const COLUMNS = `p.id, ${STATUS} as status, p.author, p.client_tx_id as "clientTxId", p.branch, p.attribution, p.operations,
  p.read_at as "readAt", p.created_at as "createdAt", p.ends_at as "endsAt", p.decided_by as "decidedBy", p.decision,
  ${RECORDS}`;

type Row = Omit<StoredProposal, "attribution" | "operations" | "decision" | "records"> & {
  readonly attribution: string | null;
  readonly operations: string;
  readonly decision: string | null;
  readonly records: string | null;
};

const recordsOf = ({ records }: Pick<Row, "records">): readonly ProposedRecord[] =>
  records === null ? [] : (JSON.parse(records) as readonly ProposedRecord[]);

const toProposal = ({ attribution, operations, decision, records, ...row }: Row): StoredProposal => ({
  ...row,
  attribution: attribution === null ? null : (JSON.parse(attribution) as StoredProposal["attribution"]),
  operations: JSON.parse(operations) as readonly StoredOperation[],
  decision: decision === null ? null : (JSON.parse(decision) as ProposalEnd),
  records: recordsOf({ records }),
});

export async function readProposal(db: Transaction, { tenant, id }: ProposalName): Promise<StoredProposal | undefined> {
  const { rows } = await db.query<Row>(`select ${COLUMNS} from holdfast.proposal p where p.tenant = $1 and p.id = $2`, [
    tenant,
    id,
  ]);
  return rows[0] && toProposal(rows[0]);
}

/** Which proposals, oldest first. */
export interface ProposalQuestion {
  readonly tenant: number;
  readonly status: ProposalStatus | "all";
  /** In lower case. */
  readonly model: string | undefined;
  readonly id: string | undefined;
  readonly author: string | undefined;
  readonly run: string | undefined;
  readonly branch: string | undefined;
  readonly after: ProposalPlace | undefined;
  readonly limit: number;
  /** Of their operations together, but for the first. */
  readonly bytes: number;
}

export type ProposalPlace = Pick<StoredProposal, "createdAt" | "id">;

const OF_STATUS = {
  all: "true",
  open: "p.status = 'open' and p.ends_at > clock_timestamp()",
  expired: "p.status = 'open' and p.ends_at <= clock_timestamp()",
  accepted: "p.status = 'accepted'",
  rejected: "p.status = 'rejected'",
  withdrawn: "p.status = 'withdrawn'",
} as const satisfies Record<ProposalStatus | "all", string>;

/** Some of them, and whether there are more. */
export async function listProposals(
  db: Transaction,
  asked: ProposalQuestion,
): Promise<{ readonly found: readonly StoredProposal[]; readonly hasMore: boolean }> {
  const { tenant, status, model, id, author, run, branch, after, limit, bytes } = asked;
  const { rows } = await db.query<Row & { readonly candidates: number }>(
    `select ${COLUMNS}, p.candidates from (
       select f.*, count(*) over () as candidates, sum(octet_length(f.operations::text)) over (order by f.created_at, f.id) - octet_length(f.operations::text) as before from (
         select p.* from holdfast.proposal p where p.tenant = $1 and ${OF_STATUS[status]}
           and ($2::text is null or exists (select from holdfast.proposed_record r
             where r.tenant = p.tenant and r.proposal = p.id and r.model = $2 and ($3::text is null or r.id = $3)))
           and ($4::text is null or p.author = $4) and ($5::text is null or p.run = $5) and ($6::text is null or p.branch = $6)
           and ($7::timestamptz is null or (p.created_at, p.id) > ($7, $8))
         order by p.created_at, p.id limit $9) f) p
     where p.before < $10 order by p.created_at, p.id`,
    [
      ...[tenant, model ?? null, id ?? null, author ?? null, run ?? null, branch ?? null],
      ...[after?.createdAt ?? null, after?.id ?? null, limit + 1, bytes],
    ],
  );
  const found = rows.slice(0, limit);
  return {
    found: found.map(({ candidates: _, ...row }) => toProposal(row)),
    hasMore: (rows[0]?.candidates ?? 0) > found.length,
  };
}

/** Those that were made or decided, or have expired, within the last so many milliseconds. */
export async function readChanged(
  db: Transaction,
  tenant: number,
  ms: number,
): Promise<readonly Pick<StoredProposal, "id" | "status" | "records">[]> {
  const { rows } = await db.query<Pick<Row, "id" | "status" | "records">>(
    `select p.id, ${STATUS} as status, ${RECORDS} from holdfast.proposal p
     where p.tenant = $1 and (p.created_at > clock_timestamp() - make_interval(secs => $2)
       or (p.ends_at > clock_timestamp() - make_interval(secs => $2) and p.ends_at <= clock_timestamp()))`,
    [tenant, ms / 1_000],
  );
  return rows.map(({ id, status, records }) => ({ id, status, records: recordsOf({ records }) }));
}
