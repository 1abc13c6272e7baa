import { type CompileEnv, HttpCallFailed, type Reply, substitute } from '@sluice/core'

const EMPTY = new Uint8Array(0)

/** A redirect of a browser, which no cache may keep. */
export function redirect(address: string, headers: readonly string[]): Reply {
  return substitute(302, ['location', address, 'cache-control', 'no-store', ...headers], EMPTY)
}

/** Whoever decides about logins or sessions cannot be asked, or answers what cannot be right. */
export function loginUnavailable(env: Pick<CompileEnv, 'refusal'>, headers: readonly string[] = []): Reply {
  return env.refusal('GW_AUTH_UNAVAILABLE', 'nobody can be logged in at the moment; try again', [
    ...['retry-after', '1'],
    ...headers,
  ])
}

/** What a call that failed is called in logs. */
export function reasonOf(error: unknown): string {
  if (error instanceof HttpCallFailed) return `${error.failure}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
