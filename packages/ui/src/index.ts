import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** Page to serve: the dashboard of a gateway or of a controller. */
export type UiPage = 'index' | 'control'

/** Response with a file of the dashboard. */
export interface UiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Path of the dashboard. */
const UI_PATH = '/ui'

/** Headers of all files: nothing from elsewhere, no inline code, and no frames. */
const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/**
 * Reads the built files. The returned function answers requests for them, with null for unknown paths. Paths are only
 * looked up, so none leads to another file.
 * @throws Error if the package has not been built.
 */
export function uiServer(page: UiPage): (path: string, ifNoneMatch: string) => UiAnswer | null {
  const folder = new URL('./web/', import.meta.url)
  const names = readdirSync(folder).filter((name) => !name.endsWith('.html') || name === `${page}.html`)
  const files = new Map(
    names.map((name) => {
      const isPage = name.endsWith('.html')
      const body = readFileSync(new URL(name, folder), 'utf8')
      const headers = {
        ...SECURITY_HEADERS,
        'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
        etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`,
        // All other names contain a hash of the content.
        'cache-control': isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
      }
      return [`${UI_PATH}/${isPage ? '' : name}`, { headers, body }]
    }),
  )
  return (path, ifNoneMatch) => {
    if (path === UI_PATH) {
      return { status: 308, headers: { ...SECURITY_HEADERS, location: `${UI_PATH}/` }, body: '' }
    }
    const file = files.get(path)
    if (file === undefined) return null
    return file.headers.etag === ifNoneMatch ? { ...file, status: 304, body: '' } : { ...file, status: 200 }
  }
}
