import {
  type CompileEnv,
  consumerOf,
  definePolicy,
  type Exchange,
  isToken,
  type Outcome,
  type Step,
} from '@sluice/core'
import { openConsumerFile } from '../../identity/consumers/consumer-file.js'
import type { KnownKey } from '../../identity/consumers/consumer-table.js'
import {
  type CredentialLocation,
  headerCredential,
  queryCredential,
} from '../../shared/field-location/credential.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { parseInstant } from '../../shared/time/instant.js'
import { hashKey, MAX_KEY_LENGTH } from './key.js'
import { type ApiKeyConfig, apiKeySchema } from './schema.js'

/** Authenticates the consumer by an API key in a header or in the query. */
export const apiKey = definePolicy({
  name: 'api-key',
  summary:
    'Authenticates callers by an API key in a header or in the query, checked against SHA-256 digests in the document.',
  schema: apiKeySchema,
  secretNames: (config) => [config.name],
  authenticates: () => 'request',
  compile(config, env) {
    const { keys, consumers, strip, name, prefix = '' } = config
    const location = config.in === 'query' ? queryCredential(name, prefix) : headerCredential(name, prefix)
    if ((keys === undefined) === (consumers === undefined))
      throw new Error("write either 'keys' or 'consumers'")
    const refusals = compileRefusals(challengeOf(config, location.name), env)
    const step = (find: FindKey): Step => ({
      name: 'api-key',
      onRequest: gate(location, find, strip, refusals),
    })
    if (keys !== undefined) return step(compileKeys(keys))
    return openConsumerFile(consumers!.file, env).then((file) =>
      step((digest) => file.table!.keys.get(digest)),
    )
  },
})

type KeyConfigs = NonNullable<ApiKeyConfig['keys']>

type FindKey = (digest: string) => KnownKey | undefined

type Refusals = ReturnType<typeof compileRefusals>

/**
 * Looks up the digest of the presented key. Timing reveals nothing, because a guess's digest is unrelated to
 * the stored ones.
 */
function gate(location: CredentialLocation, find: FindKey, strips: boolean, refusals: Refusals) {
  return (x: Exchange): Outcome => {
    const presented = location.read(x)
    if (presented === '') return refusals.missing
    if (presented === null || presented.length > MAX_KEY_LENGTH) return refusals.invalid
    const key = find(hashKey(presented))
    if (key === undefined) return refusals.invalid
    if (x.startedAt >= key.expiresAt) return refusals.expired
    x.identify(key.consumer)
    if (strips) location.strip(x)
    return null
  }
}

function compileKeys(configs: KeyConfigs): FindKey {
  const keys = new Map<string, KnownKey>()
  configs.forEach((config, i) => {
    const digest = config.sha256.toLowerCase()
    if (!/^[0-9a-f]{64}$/.test(digest))
      throw new Error(
        `key ${i + 1} ('${config.id}') is not a SHA-256 digest; hash the key with 'gw hash-key' and write the digest`,
      )
    const other = keys.get(digest)
    if (other !== undefined)
      throw new Error(
        `key ${i + 1} ('${config.id}') repeats the key of '${other.consumer.id}'; give each consumer its own key`,
      )
    keys.set(digest, compileKey(config, i))
  })
  if (keys.size === 0) throw new Error("'keys' is empty; add at least one key")
  return (digest) => keys.get(digest)
}

function compileKey(config: KeyConfigs[number], i: number): KnownKey {
  const { id, name = id, groups = [] } = config
  const consumer = consumerOf('api-key', id, { name, groups })
  if (config.expires === undefined) return { consumer, expiresAt: Number.POSITIVE_INFINITY }
  const { expires } = config
  const expiresAt = withContext(`under 'expires' of key ${i + 1} ('${config.id}'):`, () =>
    parseInstant(expires),
  )
  return { consumer, expiresAt }
}

/**
 * Returns the `www-authenticate` value. A prefix that is an authentication scheme, such as `Bearer `, becomes
 * the challenge.
 */
function challengeOf({ in: where, prefix = '' }: ApiKeyConfig, name: string): string {
  const scheme = prefix.trim()
  if (where === 'query') return `ApiKey in="query", name="${name}"`
  return name === 'authorization' && isToken(scheme) ? scheme : `ApiKey in="header", name="${name}"`
}

function compileRefusals(value: string, env: CompileEnv) {
  const challenge = ['www-authenticate', value]
  return {
    missing: env.refusal(
      'GW_AUTH_MISSING',
      'send an API key as described in the www-authenticate field',
      challenge,
    ),
    invalid: env.refusal(
      'GW_AUTH_INVALID',
      'the API key is not valid; send exactly one that was issued to you',
      challenge,
    ),
    expired: env.refusal(
      'GW_AUTH_EXPIRED',
      'the API key has expired; ask the operator of this API for a new one',
      challenge,
    ),
  }
}
