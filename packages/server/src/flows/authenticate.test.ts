import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Database } from "../db/pool.ts";
import { tokenOf } from "../rules/token.ts";
import { createAuthenticator } from "./authenticate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("[K8] what is remembered of a token ends after 2 s, also when the clock is set back", async () => {
  const row = {
    id: "cap_1",
    kind: "capability",
    world: 1,
    organization: "org_1",
    operations: ["*.*"],
    sync_groups: [],
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
