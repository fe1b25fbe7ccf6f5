import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../../connection/pool.ts";
import { tokenOf } from "../rules/token.ts";
import { createAuthenticator } from "./authenticate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("[K8] a cached token expires after 2 s, even if the clock is set back", async () => {
  const row = {
    nth: 0,
    id: "cap_1",
    kind: "capability",
    tenant: 1,
    organization: "org_1",
    operations: ["*.*"],
    sync_groups: [],
    budget: null,
  };
  let revoked = false;
  const pool = { query: async () => ({ rows: [{ ...row, expires_in_ms: 600_000, revoked }] }) } as unknown as Database;
  const { principalOf } = createAuthenticator(pool, "admin");
  const token = tokenOf("rk_", "a".repeat(30));
  expect(await principalOf(token)).toMatchObject({ tokenId: "cap_1" });
  revoked = true;
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(await principalOf(token)).toMatchObject({ tokenId: "cap_1" });
  await vi.advanceTimersByTimeAsync(200);
  expect(await principalOf(token)).toMatchObject({ code: "token_revoked" });
});

test("[K8] [K14] while the ends of tokens are heard of, a token is looked up once a minute, and forgotten when it ends", async () => {
  let asked = 0;
  const row = {
    id: "cap_1",
    kind: "capability",
    tenant: 1,
    organization: "org_1",
    operations: ["*.*"],
    sync_groups: [],
    budget: null,
  };
  const query = async () => {
    asked += 1;
    return { rows: [{ ...row, nth: 0, expires_in_ms: 600_000, revoked: false }] };
  };
  let receives = true;
  const { principalOf, recheck, forget } = createAuthenticator({ query } as unknown as Database, "admin", {
    receivesTokenEnds: () => receives,
  });
  const token = tokenOf("rk_", "a".repeat(30));
  await principalOf(token);
  await vi.advanceTimersByTimeAsync(59_000);
  await principalOf(token);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(120_000);
  // A socket does not ask again, as long as it would hear of the end.
  await recheck(token);
  expect(asked).toBe(1);
  await principalOf(token);
  expect(asked).toBe(2);
  forget("cap_1");
  await recheck(token);
  expect(asked).toBe(3);
  receives = false;
  await vi.advanceTimersByTimeAsync(2_000);
  await recheck(token);
  expect(asked).toBe(4);
});

test("[K14] [K18] tokens that arrive at the same time are looked up together, each of them once", async () => {
  const statements: number[] = [];
  const query = async ({ values: [hashes] }: { values: [Buffer[]] }) => {
    statements.push(hashes.length);
    await new Promise((resolve) => setTimeout(resolve, 10));
    return { rows: [] };
  };
  const { principalOf } = createAuthenticator({ query } as unknown as Database, "admin");
  const tokens = Array.from({ length: 300 }, (_, i) => tokenOf("rk_", `${i}`.padStart(30, "0")));
  const asked = Promise.all([...tokens, ...tokens].map((token) => principalOf(token)));
  await vi.advanceTimersByTimeAsync(100);
  await asked;
  expect(statements.reduce((sum, count) => sum + count, 0)).toBe(300);
  expect(statements.length).toBeLessThanOrEqual(3);
});
