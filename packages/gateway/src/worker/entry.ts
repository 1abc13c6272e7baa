import { readFileSync } from 'node:fs'

/** Module that a worker process of this gateway runs. */
export const workerEntry = new URL('./main.js', import.meta.url)

/** Returns the version in this package's package.json. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
