import type { uiServer } from '@sluice/ui'
import { type AdminAnswer, problemAnswer } from './problem.js'

/** Answers requests for files. Loaded for the first request, because most gateways never need it. */
let serve: Promise<ReturnType<typeof uiServer>> | null = null

/** Returns true for the paths of the dashboard. */
export function isUiPath(path: string): boolean {
  return path === '/ui' || path.startsWith('/ui/')
}

/** Answers a request for a file of the dashboard. */
export async function uiAnswer(method: string, path: string, ifNoneMatch: string): Promise<AdminAnswer> {
  if (method !== 'GET' && method !== 'HEAD')
    return problemAnswer('GW_ADMIN_METHOD_NOT_ALLOWED', 'use GET, HEAD', { headers: { allow: 'GET, HEAD' } })
  serve ??= import('@sluice/ui').then((ui) => ui.uiServer('index'))
  const answer = (await serve)(path, ifNoneMatch)
  return answer ?? problemAnswer('GW_ADMIN_NOT_FOUND', 'the dashboard has no such file; open /ui/')
}
