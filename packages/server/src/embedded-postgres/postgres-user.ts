import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/**
 * Postgres refuses to run as root. A server that runs as root starts it
 *
 * - in a user namespace in which root appears as `nobody`: files keep root as owner, and nothing has to be copied; or
 * - as the system user `postgres` or `nobody`, where namespaces are forbidden, as in most containers.
 */
export type PostgresUser = { kind: "self" } | { kind: "namespace" } | SystemUser;
export type SystemUser = { kind: "system-user"; name: string; uid: number; gid: number };

export function choosePostgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return { kind: "self" };
  if (spawnSync("unshare", [...asNobody, "true"]).status === 0) return { kind: "namespace" };
  return systemUser();
}

/** The command that runs `file` as that user. */
export function commandAs(user: PostgresUser, file: string, args: string[]) {
  if (user.kind === "namespace") return { file: "unshare", args: [...asNobody, file, ...args], options: {} };
  if (user.kind === "system-user") return { file, args, options: { uid: user.uid, gid: user.gid } };
  return { file, args, options: {} };
}

/** Prefer `postgres` to `nobody`: any other program that runs as the same user could read the data files. */
export function systemUser(): SystemUser {
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const account = accounts.find((fields) => fields[0] === name);
    if (account) return { kind: "system-user", name, uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new EmbeddedPostgresError(
    "Postgres cannot run as root, and this machine has no user `postgres` or `nobody` to run it as. " +
      "Start Holdfast as another user, or set DATABASE_URL to your own Postgres.",
  );
}

const asNobody = ["--user", "--map-user=65534", "--map-group=65534"];
