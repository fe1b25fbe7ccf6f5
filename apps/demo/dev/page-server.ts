import type { PreviewServer, ViteDevServer } from "vite";

/** Whatever serves the page: Vite while one works on it, or what Vite built. */
export type PageServer = Pick<ViteDevServer | PreviewServer, "middlewares" | "httpServer">;
