import { type Refusal, refuse } from "../refusal.ts";

/** A database's address, without what is secret in it. */
export interface DatabaseAddress {
  /** The connection string, with `sslmode` set. */
  readonly url: string;
  /** `db.example:5432`; several are separated by commas. */
  readonly host: string;
  /** The same without ports: names, addresses, or the folders of sockets. */
  readonly hostNames: readonly string[];
  readonly database: string;
}

const TLS = ["verify-full", "verify-ca", "require", "no-verify", "disable"];

/**
 * Reads a connection string. Everything but `sslmode` is refused: other parameters change the session, or name files of
 * the machine that the server runs on.
 */
export function readConnectionString(text: string): DatabaseAddress | Refusal {
  const no = (message: string) => refuse("invalid_url", { param: "connectionString", message });
  const [, credentials, hosts, database, search = ""] =
    /^postgres(?:ql)?:\/\/([^@/?#\s]+)@([^@/?#\s]+)\/([^/?#\s]+)(?:\?([^#\s]*))?$/i.exec(text) ?? [];
  if (credentials === undefined || hosts === undefined || database === undefined)
    return no('"connectionString" must look like postgres://user:password@host:5432/database.');
  const all = hosts.split(",").map(readHost);
  if (all.includes(undefined)) return no('"connectionString" names a host or port that cannot be.');
  const parameters = search === "" ? [] : search.split("&");
  const other = parameters.find((one) => !one.startsWith("sslmode="));
  if (other !== undefined)
    return no(`"connectionString" may have the parameter sslmode, and not "${other.replace(/=.*/, "").slice(0, 40)}".`);
  const [sslmode = "verify-full", twice] = parameters.map((one) => one.slice("sslmode=".length));
  if (twice !== undefined || !TLS.includes(sslmode)) return no(`"sslmode" must be one of ${TLS.join(", ")}.`);
  const name = decoded(database);
  if (name === undefined || decoded(credentials) === undefined)
    return no('"connectionString" has a % that begins no escape: write it as %25.');
  const known = all as readonly Host[];
  return {
    url: `postgres://${credentials}@${hosts}/${database}?sslmode=${sslmode}`,
    host: known.map(({ name: host, port }) => `${host}:${port}`).join(","),
    hostNames: known.map(({ name: host }) => decodeURIComponent(host.replace(/^\[|\]$|\.$/g, ""))),
    database: name,
  };
}

interface Host {
  readonly name: string;
  readonly port: number;
}

function readHost(text: string): Host | undefined {
  // The folder of a socket begins with an escaped slash.
  const [, name, digits = "5432"] =
    /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+|%2F(?:[a-z0-9_.-]|%2F)+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const port = Number(digits);
  return name === undefined || port < 1 || port > 65_535 ? undefined : { name, port };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
