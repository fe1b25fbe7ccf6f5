import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";
import { agentPlugin } from "./dev/agent-plugin.ts";
import { sessionPlugin } from "./dev/session-plugin.ts";

export default defineConfig({
  plugins: [react(), sessionPlugin(), agentPlugin()],
  // Our own packages are served from their sources.
  resolve: { conditions: ["holdfast-source", ...defaultClientConditions] },
  // Loopback only: this server hands out keys.
  server: { host: "127.0.0.1" },
});
