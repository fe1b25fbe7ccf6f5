/** One request, with JSON if there is a body. */
export const sendAsJson = (url: string, token: string, method: string, body?: unknown): Promise<Response> =>
  fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** The same, and its answer. Rejects unless it is a 2xx. */
export async function askJson<T = Readonly<Record<string, unknown>>>(
  ...[url, token, method, body]: Parameters<typeof sendAsJson>
): Promise<T> {
  const answer = await sendAsJson(url, token, method, body);
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
