import type { ConsoleMessage, Page } from "@playwright/test";

/** A page's console errors, and its requests to other hosts. */
export function watchFaults(page: Page, server: string): string[] {
  const faults: string[] = [];
  page.on("console", (message: ConsoleMessage) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${server}/`) && !/^(data|blob):/.test(url)) faults.push(`request: ${url}`);
  });
  return faults;
}
