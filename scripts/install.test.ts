import { expect, test } from "vitest";
import { environmentFor } from "./install.mjs";

test("pnpm is not given npm's own settings, only how to reach the registry", () => {
  const given = {
    HOME: "/home/someone",
    npm_config_user_agent: "npm/11",
    npm_config_ignore_scripts: "true",
    npm_lifecycle_event: "test",
    NPM_CONFIG_CAFILE: "/etc/ca.pem",
    npm_config_https_proxy: "http://proxy.example",
  };
  expect(environmentFor(given)).toEqual({
    HOME: "/home/someone",
    NPM_CONFIG_CAFILE: "/etc/ca.pem",
    npm_config_https_proxy: "http://proxy.example",
  });
});
