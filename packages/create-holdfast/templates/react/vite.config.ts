import { offlineStart } from "@holdfast/sdk/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { prepare, tokenFor } from "./backend.ts";

/**
 * Your backend, while you develop. Vite starts again when src/schema.ts changes, and then pushes it. In production,
 * /token is a route behind your sign-in; this one believes the name that it is given.
 */
const backend: Plugin = {
  name: "backend",
  apply: "serve",
  async configureServer({ config, middlewares }) {
    middlewares.use("/token", (request, response, next) => {
      const user = new URL(request.url ?? "/", "http://localhost").searchParams.get("user") ?? "ann";
      tokenFor(user).then((token) => response.end(token), next);
    });
    await prepare().catch((error: Error) => config.logger.error(`The schema was not pushed: ${error.message}`));
  },
};

export default defineConfig({
  // The build opens without a network too.
  plugins: [react(), offlineStart(), backend],
  server: { host: "127.0.0.1" },
});
