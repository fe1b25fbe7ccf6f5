import { expect, test } from "vitest";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "./people.ts";

const { person, agent, slide, request, databaseUrl } = await startPeople();
const online = (client: { status(): { name: string; syncId: number } }, head: number) =>
  until(() => expect(client.status()).toMatchObject({ name: "online", syncId: head }));
const head = async () => Number((await request("GET", "/v1/log?limit=1")).stamp);

/** The server's clock reaches the end of a lease. */
async function expire(claim: string): Promise<void> {
  const ends = "update holdfast.claim set expires_at = clock_timestamp() where id = $1 returning id";
  expect(await runSql(databaseUrl, ends, [claim])).toHaveLength(1);
}

const [ann, ben] = [await person("ann"), await agent("ben")];

test("[U1] [U6] one client holds the claim; the other waits, learns its position, and gets the claim with a higher fence", async () => {
  const id = await slide();
  const first = await ann.client.models.slide.claim(id, { description: "Mine" });
  await expect(ben.client.models.slide.claim(id)).rejects.toMatchObject({
    code: "claim_conflict",
    claims: [{ actor: "ann", participantKind: "user", description: "Mine" }],
  });
  const positions: number[] = [];
  const waiting = ben.client.models.slide.claim(id, { queue: true, onPosition: (at) => positions.push(at) });
  await until(() => expect(positions).toEqual([0]));
  await first.release();
  await using second = await waiting;
  expect(second.fence).toBeGreaterThan(first.fence);
  expect(second.remainingMs()).toBeGreaterThan(0);
});

test("[U6] [U16] agents claim over HTTP alone, and learn of their grant by a long poll", async () => {
  const id = await slide();
  const one = await agent("one", { stream: false });
  const two = await agent("two", { stream: false });
  const first = await one.client.models.slide.claim(id);
  const positions: number[] = [];
  const waiting = two.client.models.slide.claim(id, { queue: true, onPosition: (at) => positions.push(at) });
  await until(() => expect(positions).toEqual([0]));
  await first.release();
  const second = await waiting;
  await second.update({ title: "Two" }).receipt;
  await second.release();
  await one.client.close();
  await two.client.close();
});

test("[U4] a claim that is preempted, or whose token is revoked, is lost at once", async () => {
  const id = await slide();
  const chief = await person("chief", { operations: ["slide.*", "claim.preempt"] });
  const worker = await agent("worker");
  const taken = await worker.client.models.slide.claim(id);
  const own = await chief.client.models.slide.claim(id, { preempt: true });
  const loss = await taken.lost;
  expect(loss.code).toBe("claim_lost");
  // A renewal in flight may fail before the stream's frame arrives, and does not learn how the claim ended.
  expect(["preempted", "refused"]).toContain(loss.reason);
  expect(taken.signal.aborted).toBe(true);
  await own.release();
  const again = await worker.client.models.slide.claim(id);
  await request("DELETE", `/v1/capabilities/${worker.tokenId}`);
  expect((await again.lost).reason).toBe("revoked");
  await chief.client.close();
});

test("[U10] an edit under a claim that expired offline is a conflict with the present holder and values", async () => {
  const id = await slide();
  await online(ann.client, await head());
  const lease = await ann.client.models.slide.claim(id, { ttl: "1h" });
  ann.client.pause();
  const write = lease.update({ title: "Ann's" });
  await expire(lease.id);
  const theirs = await ben.client.models.slide.claim(id, { queue: true });
  await theirs.update({ title: "Ben's" }).receipt;
  ann.client.resume();
  await expect(write.receipt).rejects.toMatchObject({ code: "claim_lost" });
  await online(ann.client, await head());
  expect(ann.client.conflicts()).toMatchObject([
    {
      reason: "claim_lost",
      holders: [{ actor: "ben", participantKind: "agent" }],
      base: { title: "Base" },
      mine: { title: "Ann's" },
      theirs: { title: "Ben's" },
    },
  ]);
  await expect(ann.client.conflicts()[0]?.keepMine().receipt).rejects.toMatchObject({ code: "claim_conflict" });
  expect(ann.client.conflicts()).toMatchObject([{ reason: "claim_conflict", holders: [{ actor: "ben" }] }]);
  await theirs.release();
  await ann.client.conflicts()[0]?.keepMine().receipt;
  expect(ann.client.status()).toMatchObject({ conflicts: 0, attention: 0 });
  expect(await request("GET", `/v1/models/slide/${id}`)).toMatchObject({ data: { title: "Ann's" } });
});

test("[U9] a commit under several leases sends each lease with its own record", async () => {
  const [one, two] = [await slide(), await slide()];
  const leases = await Promise.all([one, two].map((id) => ann.client.models.slide.claim(id)));
  const write = ann.client.commit(
    [
      { action: "update", model: "slide", id: one, data: { order: 1 } },
      { action: "update", model: "slide", id: two, data: { order: 2 } },
      { action: "create", model: "slide", id: `${two}-copy`, data: { deckId: "d1" } },
    ],
    { claim: leases },
  );
  await write.receipt;
  const { data } = await request("GET", `/v1/log?after=${(await head()) - 3}`);
  expect((data as { claim: string | null }[]).map(({ claim }) => claim)).toEqual([leases[0]?.id, leases[1]?.id, null]);
  await Promise.all(leases.map((lease) => lease.release()));
});

test("[U8] [U21] closing a client releases all its claims and places in claim queues", async () => {
  const id = await slide();
  const closing = await agent("closing");
  const { fence } = await closing.client.models.slide.claim(id, { ttl: "1h" });
  await closing.client.close();
  await using lease = await ben.client.models.slide.claim(id);
  expect(lease.fence).toBeGreaterThan(fence);
});

test("[U11] a client receives the holders of watched records, and nothing for missing records", async () => {
  const id = await slide();
  await online(ann.client, await head());
  const stop = ann.client.claims.watch("slide", [id, "nowhere"]);
  await until(() => expect(ann.client.claims.of("slide", id)).toMatchObject({ state: "known", holders: [] }));
  const lease = await ben.client.models.slide.claim(id, { field: "title" });
  await until(() =>
    expect(ann.client.claims.of("slide", id).holders).toMatchObject([{ actor: "ben", field: "title", isMine: false }]),
  );
  await lease.release();
  await until(() => expect(ann.client.claims.of("slide", id).holders).toEqual([]));
  expect(ann.client.claims.of("slide", "nowhere").state).toBe("unknown");
  stop();
});
