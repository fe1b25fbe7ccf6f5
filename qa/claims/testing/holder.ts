// A holder in a process of its own, to be stopped: claims a record, tells what it got, and then, whenever it is asked
// to over IPC, writes with that claim as if no time had passed.
const [url = "", token = "", record = "", ttlMs = ""] = process.argv.slice(2);

async function ask(method: string, path: string, body: object) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: answer.status, body: (await answer.json()) as { id: string } };
}

const claimed = await ask("POST", `/v1/models/slide/${record}/claim`, { ttl: Number(ttlMs) });
process.send?.(claimed);
process.on("message", async () => {
  process.send?.(await ask("PATCH", `/v1/models/slide/${record}`, { data: { title: "late" }, claim: claimed.body.id }));
});
process.on("disconnect", () => process.exit(0));
