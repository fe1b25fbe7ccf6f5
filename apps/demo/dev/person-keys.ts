import { ask } from "./ask.ts";
import { changeDemoFile, type DemoKey, readDemoFile } from "./demo-file.ts";
import { adminToken, isLive } from "./server-secrets.ts";

const minting = new Map<string, Promise<DemoKey>>();

/** The person's key: the one kept from before while the server still knows it, else a new one. */
export function keyOf(serverUrl: string, person: string): Promise<DemoKey> {
  const running = minting.get(person);
  if (running) return running;
  const key = keptKey(serverUrl, person)
    .then((kept) => kept ?? mintKey(serverUrl, person))
    .finally(() => minting.delete(person));
  minting.set(person, key);
  return key;
}

/** Participant → name, so that a page can say who wrote what. */
export async function namesByParticipant(): Promise<Record<string, string>> {
  const { keys = {} } = await readDemoFile();
  return Object.fromEntries(Object.entries(keys).map(([person, { participant }]) => [participant, nameOf(person)]));
}

const nameOf = (person: string) =>
  person === "agent" ? "the import agent" : person.charAt(0).toUpperCase() + person.slice(1);

async function keptKey(serverUrl: string, person: string): Promise<DemoKey | undefined> {
  const key = (await readDemoFile()).keys?.[person];
  if (!key) return undefined;
  // The data may have been wiped, or the key revoked, since it was kept.
  const answer = await fetch(`${serverUrl}/v1/schema`, { headers: { authorization: `Bearer ${key.token}` } });
  return answer.status === 401 ? undefined : key;
}

async function mintKey(serverUrl: string, person: string): Promise<DemoKey> {
  const admin = await adminToken();
  const organizations = await ask<{ data: { id: string }[] }>(serverUrl, admin, "GET", "/v1/organizations");
  const organization = organizations.data[0]?.id;
  const minted = await ask<{ id: string; token: string }>(serverUrl, admin, "POST", "/v1/secret_keys", {
    organization,
    livemode: isLive(),
    label: `demo: ${person}`,
  });
  const key = { token: minted.token, participant: minted.id };
  await changeDemoFile((file) => ({ ...file, keys: { ...file.keys, [person]: key } }));
  return key;
}
