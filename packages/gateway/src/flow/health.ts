/** Returns the response to /-/healthz or /-/readyz on a listener with `health: true`. */
export function healthAnswer(
  path: string,
  isReady: boolean,
): { readonly status: number; readonly text: string } {
  if (path === '/-/healthz') return { status: 200, text: 'ok\n' }
  if (path !== '/-/readyz') return { status: 404, text: 'not found\n' }
  return isReady ? { status: 200, text: 'ready\n' } : { status: 503, text: 'not ready\n' }
}
