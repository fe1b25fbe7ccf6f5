import { type ModelSchema, paths } from "@holdfast/sdk/protocol";
import { newSecretToken } from "@holdfast/server";
import { ask } from "../../support/requester.ts";

/** The token's scope; undefined: everything in its tenant. */
export interface Scope {
  readonly operations: readonly string[];
  readonly syncGroups: readonly string[];
}

/** A holder of a token, and what is known about the token. */
export interface Holder {
  readonly name: string;
  /** The whole `Authorization` header; undefined: none. */
  readonly authorization: string | undefined;
  readonly token: string | undefined;
  readonly kind: "sk" | "rk" | "ek" | "operator" | "anonymous";
  /** `<organization> live` or `<organization> test`; undefined where the token opens none. */
  readonly tenant: string | undefined;
  readonly organization: string | undefined;
  readonly scope: Scope | undefined;
}

/** Everybody that a run begins with. */
export interface Actors {
  readonly holders: ReadonlyMap<string, Holder>;
  /** Tenants whose schema stays the reference one, so that their responses can be judged. */
  readonly judged: ReadonlySet<string>;
  readonly organizations: readonly string[];
}

const tenantName = (organization: string, livemode: boolean) => `${organization} ${livemode ? "live" : "test"}`;

/** The holder of a newly created capability, ephemeral key or secret key. */
export function holderOf(name: string, minted: Readonly<Record<string, unknown>>): Holder {
  const organization = String(minted.organizationId ?? minted.organization);
  const token = String(minted.token);
  const isScoped = minted.object !== "secret_key";
  return {
    name,
    token,
    authorization: `Bearer ${token}`,
    kind: token.startsWith("rk_") ? "rk" : token.startsWith("ek_") ? "ek" : "sk",
    tenant: tenantName(organization, minted.livemode === true),
    organization,
    scope: isScoped
      ? { operations: minted.operations as string[], syncGroups: minted.syncGroups as string[] }
      : undefined,
  };
}

const DAY = { ttlSeconds: 86_400 };

/** Tokens that are minted with the key of the live tenant: body by name. */
const CAPABILITIES: Readonly<Record<string, object>> = {
  wide: { wideScope: true, ...DAY },
  reader: { operations: ["*.read"], syncGroups: ["org"], ...DAY },
  narrow: {
    operations: ["slide.*", "document.*", "ingestionjob.update", "mailreadstate.create", "teammember.read"],
    syncGroups: ["deck:d0", "deck:d1", "attachment:a0", "user:u0", "document:i0", "team:t0"],
    ...DAY,
  },
  grouped: { operations: ["*.*"], syncGroups: ["deck:d2", "attachment:a1", "user:u1", "mailbox:m0"], ...DAY },
};
const EPHEMERAL_KEYS: Readonly<Record<string, object>> = {
  person: { user: { id: "u0" }, ...DAY },
  editor: { user: { id: "u1" }, operations: ["slide.*", "favorite.*"], syncGroups: ["deck:d0", "user:u1"], ...DAY },
};

/** Creates organizations, pushes the schema, and creates a token of every kind, including invalid ones. */
export async function actorsFor(
  url: string,
  { secretKey, adminToken, models }: { secretKey: string; adminToken: string } & ModelSchema,
): Promise<Actors> {
  const request = (method: string, path: string, token: string, body?: object) => ask(url + path, method, token, body);
  const make = (path: readonly [string, string], token: string, body: object) => request(path[0], path[1], token, body);
  const holders = new Map<string, Holder>();
  const put = (holder: Holder) => holders.set(holder.name, holder);
  const token = (name: string) => String(holders.get(name)?.token);
  const keyOf = async (name: string, organization: unknown, livemode: boolean) =>
    put(holderOf(name, await make(paths.createSecretKey, adminToken, { organization, livemode })));

  const own = String((await request("GET", paths.readIdentity[1], secretKey)).organization);
  const [theirs, pushed] = [
    String((await make(paths.createOrganization, adminToken, { name: "theirs" })).id),
    String((await make(paths.createOrganization, adminToken, { name: "pushed" })).id),
  ];
  put(holderOf("live", { object: "secret_key", organization: own, livemode: true, token: secretKey }));
  await keyOf("test", own, false);
  await keyOf("theirs", theirs, true);
  await keyOf("pushed", pushed, true);
  for (const name of ["live", "test", "theirs", "pushed"]) await make(paths.pushSchema, token(name), { models });
  for (const [name, body] of Object.entries(CAPABILITIES)) {
    const whole = JSON.parse(JSON.stringify(body).replace('"org"', `"org:${own}"`)) as object;
    put(holderOf(name, await make(paths.createCapability, secretKey, whole)));
  }
  for (const [name, body] of Object.entries(EPHEMERAL_KEYS))
    put(holderOf(name, await make(paths.createEphemeralKey, secretKey, body)));

  const useless = (name: string, known: Holder) => put({ ...known, name, tenant: undefined });
  const expiring = await make(paths.createCapability, secretKey, { wideScope: true, ttlSeconds: 1 });
  useless("expired", holderOf("expired", expiring));
  const revoked = await make(paths.createCapability, secretKey, { wideScope: true });
  await request("DELETE", paths.revokeCapability[1].replace(":id", String(revoked.id)), secretKey);
  useless("revoked", holderOf("revoked", revoked));
  const revokedKey = await make(paths.createSecretKey, adminToken, { organization: own, livemode: true });
  await request("DELETE", paths.revokeSecretKey[1].replace(":id", String(revokedKey.id)), adminToken);
  useless("revoked key", holderOf("revoked key", revokedKey));
  const anonymous = (name: string, authorization: string | undefined) =>
    put({
      name,
      authorization,
      token: undefined,
      kind: "anonymous",
      tenant: undefined,
      organization: undefined,
      scope: undefined,
    });
  anonymous("anonymous", undefined);
  anonymous("mistyped", `Bearer ${secretKey.slice(0, -1)}${secretKey.endsWith("a") ? "b" : "a"}`);
  anonymous("unknown", `Bearer ${newSecretToken(true)}`);
  anonymous("basic", "Basic YTpi");
  anonymous("empty", "Bearer ");
  put({
    ...(holders.get("anonymous") as Holder),
    name: "operator",
    kind: "operator",
    token: adminToken,
    authorization: `Bearer ${adminToken}`,
  });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  return {
    holders,
    judged: new Set(["live", "test", "theirs"].map((name) => holders.get(name)?.tenant as string)),
    organizations: [own, theirs, pushed],
  };
}
