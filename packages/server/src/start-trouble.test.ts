import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { ConfigError } from "./config.ts";
import { startTrouble } from "./start-trouble.ts";

const errorOf = async (emitter: NodeJS.EventEmitter): Promise<unknown> => (await once(emitter, "error"))[0];

test("[O1] a failed start prints a sentence that names what to change", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const second = createServer();
  const said = errorOf(second);
  second.listen(port, "127.0.0.1");
  expect(startTrouble(await said)).toBe(`127.0.0.1:${port} is in use: set PORT, or stop the program that uses it.`);
  taken.close();
  await once(taken, "close");
  const refused = await errorOf(connect(port, "127.0.0.1"));
  for (const error of [refused, new AggregateError([refused, refused])])
    expect(startTrouble(error)).toBe(`DATABASE_URL: no database answers at 127.0.0.1:${port} (ECONNREFUSED).`);
  expect(startTrouble(await errorOf(connect(port, "no-such-host.invalid")))).toMatch(/no-such-host\.invalid.*HOST/);
  const password = Object.assign(new Error('password authentication failed for user "ann"'), { code: "28P01" });
  expect(startTrouble(password)).toBe('DATABASE_URL: password authentication failed for user "ann".');
  const standby = Object.assign(new Error("The database takes no writes: it is a standby, or set to read only"), {
    code: "25006",
  });
  for (const code of ["ENOSPC", "EDQUOT"])
    expect(startTrouble(Object.assign(new Error("no space left"), { code, syscall: "write" }))).toBe(
      `The disk is full (${code}): free some space, or set HOLDFAST_DATA_DIR.`,
    );
  const full = Object.assign(new Error("could not extend file"), { code: "53100" });
  expect(startTrouble(full)).toBe("DATABASE_URL: the database's disk is full (could not extend file).");
  const ended = Object.assign(new Error("terminating connection due to administrator command"), { code: "57P01" });
  for (const cut of [ended, new Error("Connection terminated unexpectedly")])
    expect(startTrouble(cut)).toBe(
      `DATABASE_URL: the database closed the connection (${cut.message}). Start again when it is available.`,
    );
  expect(startTrouble(standby)).toBe(
    "DATABASE_URL: The database takes no writes: it is a standby, or set to read only.",
  );
  expect(startTrouble(new ConfigError("PORT is no number."))).toBe("PORT is no number.");
  expect(startTrouble(new TypeError("a bug"))).toBeUndefined();
});
