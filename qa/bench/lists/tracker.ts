const PROJECTS = 40;
const LABELS = 60;
const ISSUES = 20_000;
const COMMENTS = 100_000 - ISSUES - LABELS - PROJECTS;

/** Projects, labels, issues and comments, as an issue tracker has them. */
export const trackerSchema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    label: { fields: { name: { type: "string" } } },
    issue: {
      fields: {
        title: { type: "string" },
        status: { type: "string" },
        rank: { type: "number" },
        notes: { type: "string" },
        projectId: { type: "string", references: "project", inverse: "issues" },
        labelIds: { type: "array", references: "label", inverse: "issues" },
      },
    },
    comment: {
      fields: {
        text: { type: "string" },
        at: { type: "number" },
        issueId: { type: "string", references: "issue", inverse: "comments" },
      },
    },
  },
} as const;

export type TrackerModel = keyof typeof trackerSchema.models;

export interface Created {
  readonly model: TrackerModel;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Change extends Created {
  readonly action: "create" | "update";
}

/** Its 100,000 rows. */
export function* tracker(): Generator<Created> {
  for (let i = 0; i < PROJECTS; i++) yield { model: "project", id: `p${i}`, data: { name: `Project ${i}` } };
  for (let i = 0; i < LABELS; i++) yield { model: "label", id: `l${i}`, data: { name: `Label ${i}` } };
  for (let i = 0; i < ISSUES; i++)
    yield {
      model: "issue",
      id: `i${i}`,
      data: {
        title: `Issue ${(i * 7_919) % ISSUES}`,
        status: "open",
        rank: i,
        projectId: `p${i % PROJECTS}`,
        labelIds: [`l${i % LABELS}`, `l${(i * 7) % LABELS}`],
      },
    };
  for (let i = 0; i < COMMENTS; i++)
    yield { model: "comment", id: `c${i}`, data: { text: `Comment ${i}`, at: i, issueId: `i${(i * 31) % ISSUES}` } };
}

export const LISTS = 50;

/** What the i-th list shows: a part of one project's open issues, each with its three latest comments. */
export const trackerList = (i: number) =>
  ({
    status: "open",
    projectId: `p${i % PROJECTS}`,
    orderBy: i % 2 === 0 ? "rank" : "title",
    limit: 100 + i,
    comments: 3,
  }) as const;

/** The kinds of changes that are measured; each takes the number of the change. */
export const trackerChanges: readonly { readonly what: string; of(n: number): Change }[] = [
  {
    what: "a comment that is shown",
    of: (n) => ({
      action: "create",
      model: "comment",
      id: `n${n}`,
      data: { text: `New ${n}`, at: COMMENTS + n, issueId: `i${n % 4_000}` },
    }),
  },
  {
    what: "a comment that no list shows",
    of: (n) => ({ action: "update", model: "comment", id: `c${n}`, data: { text: `Changed ${n}` } }),
  },
  {
    what: "a field of an issue",
    of: (n) => ({ action: "update", model: "issue", id: `i${(n * 613) % 4_000}`, data: { notes: `Note ${n}` } }),
  },
  {
    what: "an issue moves to another project",
    of: (n) => ({
      action: "update",
      model: "issue",
      id: `i${(n * 613) % ISSUES}`,
      data: { projectId: `p${(n * 17 + 1 + (n % 3)) % PROJECTS}`, notes: `Moved ${n}` },
    }),
  },
  {
    what: "a label that some 170 shown issues have",
    of: (n) => ({ action: "update", model: "label", id: `l${n % LABELS}`, data: { name: `Label ${n}` } }),
  },
];
