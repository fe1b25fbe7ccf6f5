import { expect, test } from "vitest";
import type { Database } from "../../db/connection/pool.ts";
import { freshPool } from "../../testing/fresh-connection.ts";
import { ensureConfiguredKey } from "../tokens/ensure-configured-key.ts";
import { mintSecretKey, newSecretToken } from "../tokens/secret-keys.ts";
import { dumpOrganization, restoreOrganization } from "./dump.ts";

const dump = async (db: Database) => {
  const lines: string[] = [];
  await dumpOrganization(db, undefined, async (line) => void lines.push(line));
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
const { tenant } = await ensureConfiguredKey(source, newSecretToken(true));
await mintSecretKey(source, tenant, true, "minted");
const { id } = await mintSecretKey(source, tenant, true, "revoked before");
await source.query("update holdfast.secret_key set revoked_at = clock_timestamp() where id = $1", [id]);
const lines = await dump(source);

test("[O17] keys revoked before the dump stay revoked, and a different configured key replaces the earlier one", async () => {
  const target = await freshPool();
  await restoreOrganization(target, each(lines), { newId: false, keepKeys: true });
  expect(await labels(target)).toEqual(["configured at start", "minted"]);
  const later = newSecretToken(true);
  await ensureConfiguredKey(target, later);
  const { rows } = await target.query("select last4 from holdfast.secret_key where configured and revoked_at is null");
  expect(rows).toEqual([{ last4: later.slice(-4) }]);
});

test("[O17] [K15] unless its keys are kept, a restored organization is opened by none that a dump knows", async () => {
  const target = await freshPool();
  await restoreOrganization(target, each(lines), { newId: false });
  expect(await labels(target)).toEqual([]);
  await ensureConfiguredKey(target, newSecretToken(true));
  expect(await labels(target)).toEqual(["configured at start"]);
});
