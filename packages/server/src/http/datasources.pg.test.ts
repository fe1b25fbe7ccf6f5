import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";

const app = await startApp();
const { call } = app;

test("[G14] the two hosted datasources are listed, to either environment alike, as old as their organization", async () => {
  const [{ seconds } = { seconds: 0 }] = await app.sql<{ seconds: number }>(
    "select floor(extract(epoch from created_at))::int as seconds from holdfast.organization where id = $1",
    [app.organization],
  );
  const hosted = {
    object: "datasource",
    metadata: {},
    created: seconds,
    provider: "postgresql",
    connection: "hosted",
    status: "active",
  };
  const answer = await call("GET", "/v1/datasources");
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      object: "list",
      data: [
        { ...hosted, id: "ds_hosted", livemode: true, display_name: "Hosted, live" },
        { ...hosted, id: "ds_test_hosted", livemode: false, display_name: "Hosted, test" },
      ],
      has_more: false,
      next_cursor: null,
    },
  ]);
  expect(Math.abs(Date.now() / 1_000 - seconds)).toBeLessThan(600);
  expect((await call("GET", "/api/v1/datasources", { token: app.keys.test })).text).toBe(answer.text);
});

test("[G14] a datasource tells nothing of the operator's database", async () => {
  const { text } = await call("GET", "/v1/datasources");
  const { hostname, pathname, username, password, searchParams } = new URL(app.databaseUrl);
  for (const part of [hostname, pathname.slice(1), password, searchParams.get("host") ?? ""].filter(Boolean))
    expect([part, text.includes(part)]).toEqual([part, false]);
  expect(text).not.toContain(`"${username}"`);
});

test("[G14] the list takes no parameters, and is a secret key's alone", async () => {
  expect((await call("GET", "/v1/datasources?limit=1")).body.code).toBe("unknown_parameter");
  expect((await call("GET", "/v1/datasources", { token: null })).status).toBe(401);
  const { body } = await call("POST", "/v1/capabilities", { json: { participantId: "agent", wideScope: true } });
  expect((await call("GET", "/v1/datasources", { token: String(body.token) })).body.code).toBe("secret_key_required");
  expect((await call("POST", "/v1/datasources", { json: {} })).status).toBe(405);
});
