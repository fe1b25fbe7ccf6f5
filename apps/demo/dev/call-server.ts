export class Refused extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** One request to the server; throws `Refused` with the server's own sentence. */
export async function callServer<T>(
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
    throw new Refused(
      `${method} ${path} was answered ${answer.status}: ${said?.message ?? "no reason given"}`,
      answer.status,
    );
  return said as T;
}
