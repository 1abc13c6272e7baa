import { type CompileEnv, type Reply, substitute } from '@sluice/core'

const EMPTY = new Uint8Array(0)

/** Returns a redirect that caches must not store. */
export function redirect(address: string, headers: readonly string[]): Reply {
  return substitute(302, ['location', address, 'cache-control', 'no-store', ...headers], EMPTY)
}

/** Returns the refusal if the identity provider or the session store is unavailable, or responds with invalid data. */
export function loginUnavailable(env: Pick<CompileEnv, 'refusal'>, headers: readonly string[] = []): Reply {
  return env.refusal('GW_AUTH_UNAVAILABLE', 'login is unavailable at the moment; try again', [
    ...['retry-after', '1'],
    ...headers,
  ])
}
