import { spawn } from "node:child_process";

const managers = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof managers)[number];

/** The one that runs this program: each names itself first in `npm_config_user_agent`. */
export const packageManager = ({ npm_config_user_agent: agent = "" }: NodeJS.ProcessEnv): PackageManager =>
  managers.find((name) => agent.startsWith(`${name}/`)) ?? "npm";

/** Whether the install worked; it says itself why not. */
export function install(folder: string, manager: PackageManager): Promise<boolean> {
  return new Promise((done) => {
    // On Windows the program is a .cmd file, which needs a shell.
    const shell = process.platform === "win32";
    const child = spawn(manager, ["install"], { cwd: folder, stdio: ["ignore", "inherit", "inherit"], shell });
    child.once("error", () => done(false));
    child.once("close", (code) => done(code === 0));
  });
}
