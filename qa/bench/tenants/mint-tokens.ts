import type { ServerReady } from "../stage/server.ts";

const AT_ONCE = 32;

/** Tokens of as many people of the first organization, each of whom may do everything. */
export async function mintTokens(
  { url, organizations }: Pick<ServerReady, "url" | "organizations">,
  secretKey: string,
  count: number,
): Promise<string[]> {
  const tokens: string[] = [];
  let next = 0;
  const mint = async () => {
    while (next < count) {
      const user = { id: `person-${next++}` };
      const answer = await fetch(`${url}/v1/ephemeral_keys`, {
        method: "POST",
        headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          user,
          operations: ["*.*"],
          syncGroups: [`org:${organizations[0]}`],
          ttlSeconds: 86_400,
        }),
      });
      if (!answer.ok) throw new Error(`A token was answered with ${answer.status}: ${await answer.text()}`);
      tokens.push(((await answer.json()) as { token: string }).token);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, mint));
  return tokens;
}
