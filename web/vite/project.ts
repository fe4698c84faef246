/** The project's version, and the address of its site. `pyproject.toml` has both. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const text = readFileSync(resolve(import.meta.dirname, "../../pyproject.toml"), "utf8");

function field(name: string): string {
  const value = new RegExp(`^${name} = "([^"]+)"`, "m").exec(text)?.[1];
  if (value === undefined) throw new Error(`pyproject.toml: has no field ${name}`);
  return value;
}

export const version = field("version");

/**
 * Return the site's address with a slash at its end. `SEEKLAB_SITE` takes precedence over the project's home page. A host in
 * `.example` does not exist: such a site has no address, and its pages name none.
 */
export function addressOf(chosen: string | undefined, homepage: string): string | undefined {
  const address = chosen === undefined || chosen === "" ? homepage : chosen;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new Error(`SEEKLAB_SITE: ${JSON.stringify(address)} is not an address; write https://host/path/`);
  }
  if (new URL(address).hostname.endsWith(".example")) return undefined;
  return address.replace(/\/*$/, "/");
}

export const address = addressOf(process.env.SEEKLAB_SITE, field("Homepage"));
