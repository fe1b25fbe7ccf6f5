import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";
import { agentPlugin } from "./dev/agent-plugin.ts";
import { sessionPlugin } from "./dev/session-plugin.ts";
import { shellPlugin } from "./dev/shell-plugin.ts";

export default defineConfig({
  plugins: [react(), shellPlugin(), sessionPlugin(), agentPlugin()],
  // What is not there is 404, and not the page.
  appType: "mpa",
  // Our own packages are served from their sources.
  resolve: { conditions: ["holdfast-source", ...defaultClientConditions] },
  // Loopback only: this server hands out keys.
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
});
