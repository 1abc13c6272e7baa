import { readdirSync, readFileSync } from 'node:fs'

/** A built file of the dashboard. */
export interface UiFile {
  /** Name with a hash of the content, except for `index.html`. */
  readonly name: string
  readonly type: string
  readonly body: string
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Reads the built files. @throws Error if the package has not been built. */
export function readUiFiles(): UiFile[] {
  const folder = new URL('./web/', import.meta.url)
  return readdirSync(folder).map((name) => ({
    name,
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
    body: readFileSync(new URL(name, folder), 'utf8'),
  }))
}
