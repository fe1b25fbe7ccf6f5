// @ts-check
// Counts the commits of each participant by day (UTC), and refuses those above a limit.

const MOST = Number(process.env.COMMITS_PER_DAY ?? 1_000);
const TODAY = "(now() at time zone 'utc')::date";

/** @type {import("@holdfast/server").ServerModule} */
const countCommits = {
  name: "count-commits",

  async open(db) {
    await db.query("create schema if not exists x_count_commits");
    await db.query(`create table if not exists x_count_commits.counted (
      tenant int, participant text, day date, commits int not null, primary key (tenant, participant, day))`);
  },

  rounds: {
    async load(db, { tenant, commits }) {
      const participants = [...new Set(commits.map(({ participant }) => participant))];
      /** @type {readonly { participant: string, commits: number }[]} */
      const rows = await db.query(
        `select participant, commits from x_count_commits.counted where tenant = $1 and day = ${TODAY} and participant = any($2::text[])`,
        [tenant, participants],
      );
      return { before: new Map(rows.map((row) => [row.participant, row.commits])), added: new Map() };
    },
    judge({ before, added }, { participant }) {
      const made = (before.get(participant) ?? 0) + (added.get(participant) ?? 0);
      if (made < MOST) return undefined;
      return { code: "rule_broken", message: `${participant} has made its ${MOST} commits of today.` };
    },
    confirmed({ added }, { participant }) {
      added.set(participant, (added.get(participant) ?? 0) + 1);
    },
    save: ({ added }, tenant) =>
      [...added].map(([participant, commits]) => ({
        text: `insert into x_count_commits.counted as c values ($1, $2, ${TODAY}, $3)
          on conflict (tenant, participant, day) do update set commits = c.commits + excluded.commits`,
        values: [tenant, participant, commits],
      })),
  },

  routes: [
    {
      method: "GET",
      path: "/today",
      async handle({ db, tenant, participant }) {
        /** @type {readonly { commits: number }[]} */
        const [row] = await db.query(
          `select commits from x_count_commits.counted where tenant = $1 and day = ${TODAY} and participant = $2`,
          [tenant, participant],
        );
        return { body: { participant, commits: row?.commits ?? 0, most: MOST } };
      },
    },
  ],
};

export default countCommits;
