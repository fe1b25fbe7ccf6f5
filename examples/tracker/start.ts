// Starts everything: the Holdfast server, then the page with the route that gives it tokens.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { build, createServer, type PreviewServer, preview } from "vite";
import { url } from "./src/schema.ts";

const env = { ...process.env, PORT: new URL(url).port };
const server = spawn("holdfast", { env, shell: process.platform === "win32", stdio: ["ignore", "pipe", "inherit"] });
server.once("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill("SIGTERM"));
await once(server.stdout, "data"); // It listens.

const { tokenFor } = await import("./backend.ts");
const serveTokens = ({ middlewares }: Pick<PreviewServer, "middlewares">) => {
  // In your app, this route is behind your sign-in. Here it believes the name that it is given.
  middlewares.use("/token", (request, response, next) => {
    const user = new URL(request.url ?? "/", url).searchParams.get("user") ?? "ann";
    tokenFor(user).then((token) => response.end(token), next);
  });
};
const plugins = [{ name: "tokens", configureServer: serveTokens, configurePreviewServer: serveTokens }];
const isDev = process.argv.includes("--dev");
if (!isDev) await build({ logLevel: "warn" });
const page = isDev ? await (await createServer({ plugins })).listen() : await preview({ plugins });
page.printUrls();
