import { type CompileEnv, type Exchange, parseDuration } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { digestOf } from '../../shared/call/call-sharing.js'
import { GatewayTokens } from './gateway-tokens.js'
import { compileGrant, type Grant } from './grants.js'
import {
  type BackendAuthConfig,
  DEFAULT_REFRESH_BEFORE,
  DEFAULT_SUBJECTS,
  DEFAULT_TIMEOUT,
} from './schema.js'
import { compileTokenRequest } from './token-request.js'
import { type FetchToken, TokenSource, type TokenSourceOptions } from './token-source.js'

type Oauth2Config = NonNullable<BackendAuthConfig['oauth2']>

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
    refreshBeforeMs: parseDuration(config.refreshBefore ?? DEFAULT_REFRESH_BEFORE),
    onFailure: (reason) => env.report('backend_token_failed', { endpoint: config.tokenUrl, reason }),
  }
  const fetch = async (subject: string) => request(await grant.formOf(subject))
  if (grant.subjectOf !== null) return { grant, sourceOf: sourcesBySubject(config, options, fetch) }
  // A digest, so that the name of the shared object reveals no secret.
  const key = digestOf(config)
  const source = env.shared(`backend-auth:${key}`, () => new TokenSource(options))
  const timeoutMs = parseDuration(config.timeout ?? DEFAULT_TIMEOUT)
  const tokens = new GatewayTokens(env.state.store('gateway'), timeoutMs)
  env.onClose(source.use((last) => tokens.get(key, last, () => fetch(''))))
  env.schedule(LOOK_EVERY_MS, () => source.keepFresh())
  return { grant, sourceOf: () => source }
}

function sourcesBySubject(
  { maxSubjects = DEFAULT_SUBJECTS }: Oauth2Config,
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
