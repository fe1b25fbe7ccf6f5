import { createBackend } from "@holdfast/sdk/backend";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Your backend, while you develop. In production, /token is a route behind your sign-in, and says who may see what: this
 * one gives everybody all tables, to read and to write.
 */
const tokens: Plugin = {
  name: "tokens",
  apply: "serve",
  configureServer({ middlewares }) {
    const { VITE_HOLDFAST_URL: url = "http://127.0.0.1:8787", HOLDFAST_SECRET_KEY: key } = process.env;
    middlewares.use("/token", (_request, response, next) => {
      createBackend({ url, key })
        .tokenFor("ann", { wholeOrganization: true })
        .then((token) => response.end(token), next);
    });
  },
};

export default defineConfig({ plugins: [react(), tokens], server: { host: "127.0.0.1" } });
