import { readFile } from 'node:fs/promises';

const MEASURED = ['@a2a-js/sdk', 'better-sqlite3', 'koa', 'express', 'kysely'];

/** `name version` of the packages that figures depend on. */
export function packageVersions(): Promise<readonly string[]> {
  return Promise.all(
    MEASURED.map(async (name) => {
      // The tools are started in the repository; a package need not let its manifest be resolved.
      const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
      const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly version: string };
      return `${name} ${version}`;
    }),
  );
}
