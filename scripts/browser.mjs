// Finds the Chromium that tests of pages use, and installs Debian's where it may. Prints its path; exits with 1 and a
// sentence when there is none. BOUGH_TEST_BROWSER names another one.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ELSEWHERE = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function findBrowser() {
  const chosen = process.env.BOUGH_TEST_BROWSER;
  if (chosen) return isProgram(chosen) ? chosen : undefined;
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter).filter(Boolean)];
  return [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...ELSEWHERE].find(isProgram);
}

/** Debian's packages can be installed by root alone. */
function install() {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]])
    spawnSync("apt-get", ["-q", ...args], { env, stdio: ["ignore", 2, 2] });
}

const mayInstall = process.getuid?.() === 0 && isProgram("/usr/bin/apt-get") && !process.env.BOUGH_TEST_BROWSER;
if (findBrowser() === undefined && mayInstall) install();
const browser = findBrowser();
if (browser === undefined) {
  const chosen = process.env.BOUGH_TEST_BROWSER;
  console.error(
    chosen
      ? `bough: BOUGH_TEST_BROWSER names ${chosen}, which is no program; give the path of a Chromium.`
      : "bough: there is no Chromium for the tests of pages; install it (on Debian: apt-get install chromium) or set BOUGH_TEST_BROWSER to its path.",
  );
  process.exit(1);
}
console.log(browser);
