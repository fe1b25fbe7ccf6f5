import { expect, test } from "vitest";
import { builtInHooks } from "../../../modules/open-modules.ts";
import { freshPool } from "../../../testing/fresh-connection.ts";
import { readCommit } from "../../commits/flows/read-commit.ts";
import type { Database } from "../../connection/pool.ts";
import { ensureConfiguredKey } from "../../tokens/flows/ensure-configured-key.ts";
import { mintSecretKey, newSecretToken } from "../../tokens/flows/secret-keys.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { tenantOf } from "../db/organizations.ts";
import { dumpOrganization, restoreOrganization } from "./dump.ts";

const dump = async (db: Database) => {
  const lines: string[] = [];
  await dumpOrganization(db, builtInHooks.places, undefined, async (line) => void lines.push(line));
  return lines;
};
async function* each(lines: readonly string[]) {
  yield* lines;
}
const labels = async (db: Database) =>
  (
    await db.query<{ label: string }>("select label from holdfast.secret_key where revoked_at is null order by label")
  ).rows.map(({ label }) => label);

const source = await freshPool();
const { tenant } = await ensureConfiguredKey(source, builtInHooks.tokensEnded, newSecretToken(true));
await mintSecretKey(source, tenant, true, "minted");
const { id } = await mintSecretKey(source, tenant, true, "revoked before");
await source.query("update holdfast.secret_key set revoked_at = clock_timestamp() where id = $1", [id]);
const lines = await dump(source);

const secretKeyIn = (tenant: number): Principal => ({
  ...{ tenant, organization: "org_1", livemode: true, database: null, scope: undefined, expiresAt: null },
  ...{ participantKind: "system", participantId: "key_1", tokenId: "key_1", tokenKind: "secret_key" },
});

test("[O17] keys revoked before the dump stay revoked, and a different configured key replaces the earlier one", async () => {
  const target = await freshPool();
  await restoreOrganization(target, builtInHooks, each(lines), { newId: false, keepKeys: true });
  expect(await labels(target)).toEqual(["configured at start", "minted"]);
  const later = newSecretToken(true);
  await ensureConfiguredKey(target, builtInHooks.tokensEnded, later);
  const { rows } = await target.query("select last4 from holdfast.secret_key where configured and revoked_at is null");
  expect(rows).toEqual([{ last4: later.slice(-4) }]);
});

test("[O17] [K15] unless its keys are kept, a restored organization is opened by none that a dump knows", async () => {
  const target = await freshPool();
  await restoreOrganization(target, builtInHooks, each(lines), { newId: false });
  expect(await labels(target)).toEqual([]);
  await ensureConfiguredKey(target, builtInHooks.tokensEnded, newSecretToken(true));
  expect(await labels(target)).toEqual(["configured at start"]);
});

test("[O10] [I10] a dump of version 1 is restored: its receipts are found by their names, byte for byte", async () => {
  const fingerprint = "FV4IHbhdIT98BHaJE7EnJyUu5vXkJmFndJs8ZtnU0ns=";
  const body = '{"object":"commit_receipt",  "clientTxId":"a \\" 1"}';
  const receipts = [
    { tenant: 7, participant: 'agent:a"\\b', name: 'k"\\,1', fingerprint },
    { tenant: 7, participant: "system:key_1", name: "plain", fingerprint },
  ].map(
    (row) => `${JSON.stringify(row).slice(0, -1)},"body":${body},"held":false,"created_at":"2026-11-01T00:00:00Z"}`,
  );
  const older = lines
    .with(0, String(lines[0]).replace('"version":2', '"version":1'))
    .toSpliced(lines.indexOf('{"what":"receipts"}') + 1, 0, ...receipts)
    .with(-1, String(lines.at(-1)).replace('"receipts":0', '"receipts":2'));
  const target = await freshPool();
  const { organization } = await restoreOrganization(target, builtInHooks, each(older), { newId: false });
  const restored = (await tenantOf(target, organization, true)) as number;
  const found = await readCommit(target, async () => "hidden")(secretKeyIn(restored), 'agent:a"\\b', 'k"\\,1');
  expect(found).toMatchObject({ body, fingerprint, conflicted: false });
  expect(await readCommit(target, async () => "hidden")(secretKeyIn(restored), "system:key_1", "plain")).toMatchObject({
    body,
    fingerprint,
  });
  expect(await readCommit(target, async () => "hidden")(secretKeyIn(restored), "system:key_1", 'k"\\,1')).toBe(
    undefined,
  );
});

test("[O10] a dump of a later version is refused with a sentence", async () => {
  const later = lines.with(0, String(lines[0]).replace('"version":2', '"version":3'));
  await expect(restoreOrganization(await freshPool(), builtInHooks, each(later), { newId: true })).rejects.toThrow(
    "The dump has version 3; this release reads versions 1 and 2.",
  );
});
