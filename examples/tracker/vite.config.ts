import { offlineStart } from "@holdfast/sdk/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const address = { host: "127.0.0.1", port: Number(process.env.PORT ?? 5173) };

export default defineConfig({
  plugins: [react(), offlineStart()],
  define: { "process.env.HOLDFAST_URL": JSON.stringify(process.env.HOLDFAST_URL) },
  server: address,
  preview: address,
});
