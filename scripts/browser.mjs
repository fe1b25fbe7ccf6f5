// Finds a Chromium for the tests, or installs one. As a program it prints what it does:
//   CHROMIUM_PATH → an installed Chrome or Chromium → Playwright's own → apt-get as root → a sentence
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { isProgram } from "./root.mjs";

/**
 * How every test starts its browser. The sandbox needs rights that containers and root do not have; QUIC and the
 * browser's own background traffic would blur what a test sees on the network.
 */
export const browserArguments = ["--no-sandbox", "--disable-quic", "--disable-background-networking"];

/**
 * The path of a Chromium on this machine, or undefined. Installs nothing.
 * @returns {string | undefined}
 */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) return named;
  return installedBrowser() ?? playwrightBrowser();
}

/**
 * The path of a Chromium that starts, installed first if there is none.
 * @param {(line: string) => void} say
 * @returns {string}
 */
export function ensureChromium(say) {
  const named = process.env.CHROMIUM_PATH;
  if (named) {
    if (!starts(named)) throw new Error(`CHROMIUM_PATH is ${named}, which does not start. Correct or unset it.`);
    say(`using ${named} (CHROMIUM_PATH)`);
    return named;
  }
  const found = [installedBrowser(), playwrightBrowser()].find((path) => path && starts(path));
  if (found) {
    say(`using ${found}`);
    return found;
  }
  const installed = downloadPlaywrightBrowser(say) ?? installWithApt(say);
  if (installed) {
    say(`using ${installed}`);
    return installed;
  }
  throw new Error(
    "No Chromium was found, and none could be installed. Install Chrome or Chromium and run this again; " +
      "if it is in an unusual place, set CHROMIUM_PATH to its executable.",
  );
}

const namesOnPath = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];

const usualPlaces = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].map((variable) =>
    join(process.env[variable] ?? "", "Google", "Chrome", "Application", "chrome.exe"),
  ),
};

function installedBrowser() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = process.platform === "win32" ? [] : namesOnPath.flatMap((name) => folders.map((f) => join(f, name)));
  const usual = process.platform === "darwin" || process.platform === "win32" ? usualPlaces[process.platform] : [];
  return [...onPath, ...usual].find(isExecutable);
}

function playwrightBrowser() {
  try {
    const { chromium } = createRequire(import.meta.url)("playwright");
    const path = chromium.executablePath();
    return existsSync(path) ? path : undefined;
  } catch {
    // Not installed yet, or Playwright knows no Chromium for this platform: either way it has none for us.
    return undefined;
  }
}

/** @param {(line: string) => void} say */
function downloadPlaywrightBrowser(say) {
  let cli;
  try {
    cli = join(dirname(createRequire(import.meta.url).resolve("playwright/package.json")), "cli.js");
  } catch {
    return undefined;
  }
  say("no Chrome or Chromium found: Playwright downloads its own");
  // A machine without that download server would otherwise hang in Playwright's own retries for minutes.
  const download = spawnSync(process.execPath, [cli, "install", "chromium"], {
    stdio: ["ignore", 2, 2],
    timeout: 300_000,
    env: { ...process.env, PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "15000" },
  });
  const path = download.status === 0 ? playwrightBrowser() : undefined;
  if (path && starts(path)) return path;
  say("the downloaded Chromium does not start");
  return undefined;
}

/** @param {(line: string) => void} say */
function installWithApt(say) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  if (spawnSync("apt-get", ["--version"]).status !== 0) return undefined;
  say("installing the package chromium with apt-get");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  /** @param {string[]} words */
  const apt = (...words) => spawnSync("apt-get", words, { stdio: ["ignore", 2, 2], env }).status === 0;
  const install = () => apt("install", "-y", "--no-install-recommends", "chromium");
  // The package lists of a fresh machine are empty or old; asking for them first would cost time on all others.
  if (!install() && !(apt("update") && install())) return undefined;
  const path = installedBrowser();
  return path && starts(path) ? path : undefined;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * An executable with missing system libraries is found like a good one; only running it tells them apart.
 * @param {string} path
 */
function starts(path) {
  // Chrome for Windows opens a window instead of printing its version.
  if (process.platform === "win32") return existsSync(path);
  return spawnSync(path, ["--version"], { timeout: 30_000 }).status === 0;
}

if (isProgram(import.meta.url)) {
  try {
    ensureChromium((line) => console.log(`browser: ${line}`));
  } catch (error) {
    console.error(`browser: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
