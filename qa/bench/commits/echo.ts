// The floor of HTTP: the same framework, the same body, and nothing done with it.
import fastify from "fastify";

const app = fastify();
app.post("/", async (request) => request.body);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)));
