import { absent, exactly } from "../../assertions/pattern.ts";
import {
  claim,
  granted,
  listClaims,
  queued,
  readClaim,
  refusedFor,
  release,
  renew,
  scene,
  write,
} from "../../kit/claim-kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

const LASTS: readonly (readonly [ttl: string | number, ms: number])[] = [
  [1_000, 1_000],
  ["1000ms", 1_000],
  ["30s", 30_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  [3_600_000, 3_600_000],
];
const BAD_TTLS: readonly unknown[] = [
  ...[0, -1, "0s", "1e9", "30", " 30s", "30S", "5y", 999],
  ...["999ms", 1e12, "61m", "3601s", 1000.5, true, "", [], {}],
];

export const section: SuiteSection = {
  title: "Claim leases",
  cases: [
    ...checkEach(
      LASTS,
      ([ttl]) => `[A2] A claim with a ttl of ${JSON.stringify(ttl)} lasts that long.`,
      async (t, [ttl, ms]) => {
        const [note, ann] = await scene(t, 1);
        const { body } = t.answered(await claim(t, ann, note, { ttl }), 201);
        const left = Number(body.expiresInMs);
        t.that(left <= ms && left > ms - 1_000, `an expiry time in ${ms} ms`, left);
        t.is(Date.parse(String(body.expiresAt)) - Date.parse(String(body.createdAt)), ms, "the lease");
      },
    ),
    ...checkEach(
      BAD_TTLS,
      (ttl) => `[A2] A ttl of ${JSON.stringify(ttl)} is 400 invalid_ttl, and nothing is claimed.`,
      async (t, ttl) => {
        const [note, ann] = await scene(t, 1);
        t.refused(await claim(t, ann, note, { ttl }), "invalid_ttl", { param: "ttl" });
        t.answered(await listClaims(t, note), 200, { data: exactly([]) });
      },
    ),
    check(
      "[A1] [A2] A holder that claims again renews its claim: 200, the same claim and fence, a new expiry time, even an earlier one; omitted values stay.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const said = { description: "for the people", meta: { job: 1 } };
        const first = t.answered(await claim(t, ann, note, { ttl: "10m", ...said }), 201).body;
        const same = {
          id: String(first.id),
          fence: Number(first.fence),
          createdAt: String(first.createdAt),
          status: "active",
          ...said,
        };
        const again = t.answered(await claim(t, ann, note, { ttl: "10s" }), 200, same).body;
        t.that(
          Date.parse(String(again.expiresAt)) < Date.parse(String(first.expiresAt)),
          "an earlier expiry time",
          again.expiresAt,
        );
        const later = t.answered(await claim(t, ann, note, { ttl: "20m" }), 200, same).body;
        t.that(
          Date.parse(String(later.expiresAt)) > Date.parse(String(first.expiresAt)),
          "a later expiry time",
          later.expiresAt,
        );
        const { token } = ann;
        t.answered(await t.post(`${note.path}/claim`, { action: "translate" }, { token }), 200, {
          ...same,
          action: "translate",
        });
        t.answered(await t.post(`${note.path}/claim`, undefined, { token }), 200, same);
      },
    ),
    check(
      "[A5] [A10] When a lease expires, the server grants the claim to the next waiter with its full ttl, and the former holder has lost it.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note, { ttl: "1s" });
        const waits = await queued(t, bob, note, { ttl: "30s" });
        const { body } = t.answered(await readClaim(t, bob, waits, 10_000), 200, {
          status: "active",
          position: absent,
        });
        t.that(Number(body.expiresInMs) > 20_000, "the whole ttl", body.expiresInMs);
        t.answered(await readClaim(t, ann, held), 200, { status: "expired", expiresAt: absent });
        refusedFor(t, await write(t, ann, note, { claim: held }), "claim_lost", [waits], "claim");
        refusedFor(t, await renew(t, ann, held), "claim_lost", [waits]);
      },
    ),
    check(
      "[A2] [A10] A renewal moves the expiry time to now plus the ttl, by default the claim's own; a waiter that renews keeps its place.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note, { ttl: "20s" });
        const longer = t.answered(await renew(t, ann, held, { ttl: "10m" }), 200, {
          id: held,
          status: "active",
        }).body;
        t.that(Number(longer.expiresInMs) > 500_000, "an expiry time in ten minutes", longer.expiresInMs);
        t.answered(await renew(t, ann, held, { ttl: "20s" }), 200);
        const same = t.answered(await renew(t, ann, held), 200).body;
        t.that(
          Number(same.expiresInMs) <= 20_000 && Number(same.expiresInMs) > 15_000,
          "an expiry time in 20 s",
          same.expiresInMs,
        );
        t.refused(await renew(t, ann, held, { ttl: "5y" }), "invalid_ttl", { param: "ttl" });
        const waits = await queued(t, bob, note);
        t.answered(await renew(t, bob, waits), 200, { id: waits, status: "queued", position: 0 });
      },
    ),
    check("[A10] A renewal does not name the holders of a record that the caller may no longer see.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const held = await granted(t, ann, note);
      await release(t, ann, held);
      t.answered(await t.patch(note.path, { data: { deckId: t.deck().deckId } }), 200);
      t.answered(await t.post(`${note.path}/claim`, { description: "a secret" }), 201);
      const lost = t.refused(await renew(t, ann, held), "claim_lost", { body: { claims: exactly([]) } });
      t.that(!lost.text.includes("secret"), "nothing of the other claim", lost.text);
    }),
  ],
};
