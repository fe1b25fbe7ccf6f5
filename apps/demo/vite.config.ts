import { fileURLToPath } from "node:url";
import { offlineStart } from "@holdfast/sdk/vite";
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";
import { agentPlugin } from "./dev/agent-plugin.ts";
import { importPlugin } from "./dev/import-plugin.ts";
import { sessionPlugin } from "./dev/session-plugin.ts";

// What visitors load runs on Preact, which speaks React's words in 6 KB where React DOM takes 55: with React itself, all the
// scripts until the first slide can be edited would be 150 KB. While one works on the page it is React, with its tools.
const light = {
  react: "preact/compat",
  "react-dom/client": "preact/compat/client",
  "react/jsx-runtime": "preact/jsx-runtime",
};

export default defineConfig(({ command }) => ({
  plugins: [react(), offlineStart(), sessionPlugin(), agentPlugin(), importPlugin()],
  // What is not there is 404, and not the page.
  appType: "mpa",
  resolve: {
    // Our own packages are served from their sources.
    conditions: ["holdfast-source", ...defaultClientConditions],
    // By exact name, or "react" would also match the beginning of the others.
    ...(command === "build" && {
      alias: Object.entries(light).map(([name, instead]) => ({
        find: new RegExp(`^${name}$`),
        replacement: fileURLToPath(import.meta.resolve(instead)),
      })),
    }),
  },
  // Loopback only: this server hands out keys.
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
}));
