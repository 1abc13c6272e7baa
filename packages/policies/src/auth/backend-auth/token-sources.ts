import { type CompileEnv, type Exchange, parseDuration } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { digestOf } from '../../shared/call/call-sharing.js'
import { MARGIN_MS, singleFlight } from '../../shared/call/single-flight.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import { compileGrant, type Grant, type Oauth2Config } from './grants.js'
import { compileTokenRequest } from './token-request.js'
import { type FetchToken, type IssuedToken, TokenSource, type TokenSourceOptions } from './token-source.js'

const LOOK_EVERY_MS = 5000
/** Estimated memory of a token without its subject, in bytes. */
const TOKEN_BYTES = 4096
const MAX_BYTES = 32 * 1024 * 1024

/** Token sources of a backend: one for the gateway itself, or one per subject. */
export interface TokenSources {
  readonly grant: Grant
  /** Returns the token source of a subject, '' for the gateway itself. */
  sourceOf(subject: string): TokenSource
}

/** Opens the token sources. @throws Error if the configuration is invalid. */
export function openTokenSources(config: Oauth2Config, env: CompileEnv): TokenSources {
  const grant = compileGrant(config)
  const request = compileTokenRequest(config, env)
  const options: TokenSourceOptions = {
    refreshBeforeMs: parseDuration(config.refreshBefore),
    onFailure: (reason) => env.report('backend_token_failed', { endpoint: config.tokenUrl, reason }),
  }
  const fetch = async (subject: string) => request(await grant.formOf(subject))
  if (grant.subjectOf !== null) return { grant, sourceOf: sourcesBySubject(config, options, fetch) }
  // A digest, so that the name of the shared object reveals no secret.
  const key = digestOf(config)
  const source = env.shared(`backend-auth:${key}`, () => new TokenSource(options))
  const sharing = {
    // Never a cluster store: tokens must not leave the process tree.
    ...{ store: env.state.store('gateway'), key: `token:${key}` },
    waitMs: parseDuration(config.timeout) + MARGIN_MS,
  }
  const fetchShared: FetchToken = (last) =>
    singleFlight({
      ...sharing,
      read: (bytes) => decodeToken(bytes, last),
      ask: async () => {
        const token = await fetch('')
        return { value: token, bytes: encodeToken(token), ttlMs: token.lifeMs }
      },
    })
  env.onClose(source.use(fetchShared))
  env.schedule(LOOK_EVERY_MS, () => source.keepFresh())
  return { grant, sourceOf: () => source }
}

/** Encodes a token for the other workers: `{ value, until }`. */
function encodeToken({ value, lifeMs }: IssuedToken): Buffer {
  return Buffer.from(JSON.stringify({ value, until: Date.now() + lifeMs }))
}

/** Decodes a token. Returns null if it is invalid, has expired, or is the token to replace. */
function decodeToken(bytes: Uint8Array, last: string): IssuedToken | null {
  const stored = parseStrictObject(bytes)
  if (stored === null) return null
  const value = String(memberOf(stored, 'value'))
  const lifeMs = Number(memberOf(stored, 'until')) - Date.now()
  return lifeMs > 0 && value !== last ? { value, lifeMs } : null
}

function sourcesBySubject(
  { maxSubjects }: Oauth2Config,
  options: TokenSourceOptions,
  fetch: (subject: string) => ReturnType<FetchToken>,
): TokenSources['sourceOf'] {
  const sources = new LRUCache<string, TokenSource>({ max: maxSubjects, maxSize: MAX_BYTES })
  return (subject) => {
    const key = digestOf(subject)
    const known = sources.get(key)
    if (known !== undefined) return known
    const source = new TokenSource(options)
    source.use(() => fetch(subject))
    sources.set(key, source, { size: TOKEN_BYTES + subject.length })
    return source
  }
}

/** Returns the subject of a request. */
export function subjectIn(x: Exchange, { subjectOf }: Grant): string {
  return subjectOf === null ? '' : subjectOf(x)
}
