import { type Refusal, refuse } from "../../../kernel/refusal.ts";

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
  if (all.includes(undefined)) return no('"connectionString" has an invalid host or port.');
  const parameters = search === "" ? [] : search.split("&");
  const other = parameters.find((one) => !one.startsWith("sslmode="));
  if (other !== undefined)
    return no(
      `"connectionString" can have only the parameter sslmode (got "${other.replace(/=.*/, "").slice(0, 40)}").`,
    );
  const [sslmode = "verify-full", twice] = parameters.map((one) => one.slice("sslmode=".length));
  if (twice !== undefined || !TLS.includes(sslmode)) return no(`"sslmode" must be one of ${TLS.join(", ")}.`);
  const name = decoded(database);
  if (name === undefined || decoded(credentials) === undefined)
    return no('"connectionString" has a % that does not begin an escape: write it as %25.');
  if (`${name} ${decoded(credentials)}`.includes("\0"))
    return no('"connectionString" has a %00, which cannot be in a name.');
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
  const isAddress = name?.startsWith("[") !== true || isIPv6(name.slice(1, -1));
  return name === undefined || !isAddress || port < 1 || port > 65_535 ? undefined : { name, port };
}

/** At most one "::" stands for groups of zeros. The last two groups may be written like an IPv4 address. */
function isIPv6(text: string): boolean {
  const halves = text.split("::");
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const isMixed = /^\d{1,3}(\.\d{1,3}){3}$/.test(groups.at(-1) ?? "");
  const count = groups.length + (isMixed ? 1 : 0);
  const hasPlain = groups.slice(0, isMixed ? -1 : undefined).every((group) => /^[0-9a-f]{1,4}$/i.test(group));
  return hasPlain && ((halves.length === 1 && count === 8) || (halves.length === 2 && count < 8));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
