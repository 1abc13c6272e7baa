import { readFileSync } from 'node:fs'

/** Returns the version in this package's package.json. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
  return version
}
