import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { body, text } = await app.call("GET", "/v1/datasources");

test("[G14] the hosted datasources are as old as their organization", async () => {
  const [row] = await app.sql<{ seconds: number }>(
    "select floor(extract(epoch from created_at))::int as seconds from holdfast.organization where id = $1",
    [app.organization],
  );
  expect((body.data as { created: number }[]).map(({ created }) => created)).toEqual([row?.seconds, row?.seconds]);
});

test("[G14] a datasource reveals nothing about the operator's database", () => {
  const { hostname, pathname, username, password, searchParams } = new URL(app.databaseUrl);
  for (const part of [hostname, pathname.slice(1), password, searchParams.get("host") ?? ""].filter(Boolean))
    expect([part, text.includes(part)]).toEqual([part, false]);
  expect(text).not.toContain(`"${username}"`);
});
