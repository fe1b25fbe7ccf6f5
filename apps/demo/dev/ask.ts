/** One request to the server; a refusal becomes an error with the server's own sentence. */
export async function ask<T>(
  serverUrl: string,
  token: string,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await fetch(serverUrl + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const said = (await answer.json().catch(() => undefined)) as { message?: string } | undefined;
  if (!answer.ok)
    throw new Error(`${method} ${path} was answered ${answer.status}: ${said?.message ?? "no reason given"}`);
  return said as T;
}
