import { createHash } from 'node:crypto'
import { type AdminAnswer, problemAnswer } from './problem.js'

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

interface ServedFile {
  readonly type: string
  readonly body: string
  readonly etag: string
  readonly caching: string
}

/** The files by path. Loaded for the first request, because most gateways never need them. */
let files: Promise<ReadonlyMap<string, ServedFile>> | null = null

/** Returns true for the paths of the dashboard. */
export function isUiPath(path: string): boolean {
  return path === UI_PATH || path.startsWith(`${UI_PATH}/`)
}

/** Answers a request for a file of the dashboard. Paths are only looked up, so none leads to another file. */
export async function uiAnswer(method: string, path: string, ifNoneMatch: string): Promise<AdminAnswer> {
  if (method !== 'GET' && method !== 'HEAD')
    return problemAnswer('GW_ADMIN_METHOD_NOT_ALLOWED', 'use GET, HEAD', { headers: { allow: 'GET, HEAD' } })
  if (path === UI_PATH) return { status: 308, headers: { ...SECURITY_HEADERS, location: '/ui/' }, body: '' }
  files ??= readFiles()
  const file = (await files).get(path)
  if (file === undefined)
    return problemAnswer('GW_ADMIN_NOT_FOUND', 'the dashboard has no such file; open /ui/')
  const { type, body, etag, caching } = file
  const headers = { ...SECURITY_HEADERS, 'content-type': type, etag, 'cache-control': caching }
  return ifNoneMatch === etag ? { status: 304, headers, body: '' } : { status: 200, headers, body }
}

async function readFiles(): Promise<ReadonlyMap<string, ServedFile>> {
  const { readUiFiles } = await import('@sluice/ui')
  return new Map(
    readUiFiles().map(({ name, type, body }) => [
      `${UI_PATH}/${name === 'index.html' ? '' : name}`,
      {
        type,
        body,
        etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`,
        // All other names contain a hash of the content.
        caching: name === 'index.html' ? 'no-cache' : 'public, max-age=31536000, immutable',
      },
    ]),
  )
}
