import { expect, test } from "vitest";
import { readConnectionString } from "./connection-string.ts";

const read = (text: string) => {
  const result = readConnectionString(text);
  return "code" in result ? `${result.code}: ${result.message}` : result;
};

test("[DS20] a connection string names user, host and database, and verifies TLS unless it says otherwise", () => {
  expect(read("postgres://ann:p%40ss@db.example/app")).toEqual({
    url: "postgres://ann:p%40ss@db.example/app?sslmode=verify-full",
    host: "db.example:5432",
    hostNames: ["db.example"],
    database: "app",
  });
  expect(read("postgresql://ann@a.example:6000,b.example/my%20app?sslmode=disable")).toEqual({
    url: "postgres://ann@a.example:6000,b.example/my%20app?sslmode=disable",
    host: "a.example:6000,b.example:5432",
    hostNames: ["a.example", "b.example"],
    database: "my app",
  });
  expect(read("postgres://ann@%2Ftmp%2Fpg.sock:5432/app")).toMatchObject({ hostNames: ["/tmp/pg.sock"] });
  expect(read("postgres://ann:x@[2001:db8::1]:5433/app")).toMatchObject({
    host: "[2001:db8::1]:5433",
    hostNames: ["2001:db8::1"],
  });
  for (const address of ["::1", "1:2:3:4:5:6:7:8", "::ffff:127.0.0.1", "fe80::"])
    expect(read(`postgres://ann:x@[${address}]/app`)).toMatchObject({ hostNames: [address] });
});

test.each([
  ...["", "mysql://ann@db/app", "postgres://db.example/app", "postgres://ann@db.example"],
  ...["postgres://ann@db.example/", "postgres://ann@/app?host=/tmp", "postgres://ann@db.example:0/app"],
  ...["postgres://ann@db.example:65536/app", "postgres://ann@db.example,/app", "postgres://ann@db.example/app#x"],
  ...["postgres://ann@db.example/a b", "postgres://a%@db.example/app", "postgres://ann@db.example/app?sslmode=none"],
  ...["postgres://ann@db.example/app?sslmode=disable&sslmode=require"],
  ...["postgres://ann@db.example/app?options=-c%20statement_timeout%3D0"],
  ...["postgres://ann@db.example/app?sslrootcert=/etc/passwd", "postgres://ann@db.example/app?host=10.0.0.1"],
  ...["postgres://ann@[::::]/app", "postgres://ann@[1::2::3]/app", "postgres://ann@[1.2.3.4]/app"],
  ...["postgres://ann@db.example/a%00b", "postgres://ann%00:x@db.example/app", "postgres://ann:x%00@db.example/app"],
])("[DS20] [DS75] %s is refused", (text) => {
  expect(read(text)).toMatch(/^invalid_url: "?(connectionString|sslmode)/);
});
