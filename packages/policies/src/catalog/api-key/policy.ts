import {
  type CompileEnv,
  type Consumer,
  consumerOf,
  definePolicy,
  type Exchange,
  isToken,
  type Outcome,
} from '@sluice/core'
import { about } from '../../shared/about.js'
import {
  type CredentialLocation,
  headerCredential,
  queryCredential,
} from '../../shared/field-location/credential.js'
import { hashKey, MAX_KEY_LENGTH } from './key.js'
import { type ApiKeyConfig, apiKeySchema, DEFAULT_NAME } from './schema.js'

const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

/**
 * The moment a text such as `2030-01-31` or `2030-01-31T12:00:00Z` means, ms since the epoch. A date alone is the
 * beginning of that day in UTC; a time needs its offset.
 * @throws RangeError when it is no such moment.
 */
export function parseInstant(text: string): number {
  const match = INSTANT.exec(text)
  const instant = match === null ? Number.NaN : Date.parse(text)
  if (Number.isNaN(instant) || !isDate(match![1]!)) {
    throw new RangeError(`'${text}' is not a moment; write 2030-01-31 or 2030-01-31T12:00:00Z`)
  }
  return instant
}

/** Whether the calendar has that day; `Date` alone would take the 31st of February for the 3rd of March. */
function isDate(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

/** Asks for a key in a header or in the query, and names the consumer. */
export const apiKey = definePolicy({
  name: 'api-key',
  summary:
    'Asks for an API key in a header or in the query, checked against SHA-256 digests in the document.',
  schema: apiKeySchema,
  secretNames: (config) => [config.name ?? DEFAULT_NAME],
  authenticates: () => 'request',
  compile(config, env) {
    const written = config.name ?? DEFAULT_NAME
    const location = (config.in === 'query' ? queryCredential : headerCredential)(
      written,
      config.prefix ?? '',
    )
    const keys = compileKeys(config.keys)
    return {
      name: 'api-key',
      onRequest: gate(
        location,
        keys,
        config.strip ?? true,
        compileRefusals(challengeOf(config, location.name), env),
      ),
    }
  },
})

interface Key {
  readonly consumer: Consumer
  /** Ms since the epoch; infinite when the key does not expire. */
  readonly expiresAt: number
}

type Refusals = ReturnType<typeof compileRefusals>

/** One digest and one look-up in a map: the digest of a guess shows nothing about the digests that are stored. */
function gate(
  location: CredentialLocation,
  keys: ReadonlyMap<string, Key>,
  strips: boolean,
  refusals: Refusals,
) {
  return (x: Exchange): Outcome => {
    const presented = location.read(x)
    if (presented === '') return refusals.missing
    if (presented === null || presented.length > MAX_KEY_LENGTH) return refusals.invalid
    const key = keys.get(hashKey(presented))
    if (key === undefined) return refusals.invalid
    if (x.startedAt >= key.expiresAt) return refusals.expired
    x.identify(key.consumer)
    if (strips) location.strip(x)
    return null
  }
}

function compileKeys(configs: ApiKeyConfig['keys']): Map<string, Key> {
  const keys = new Map<string, Key>()
  configs.forEach((config, i) => {
    const digest = config.sha256.toLowerCase()
    if (!/^[0-9a-f]{64}$/.test(digest)) {
      throw new Error(
        `key ${i + 1} ('${config.id}') is not a SHA-256 digest; hash the key with 'gw hash-key' and write the digest`,
      )
    }
    const other = keys.get(digest)
    if (other !== undefined) {
      throw new Error(
        `key ${i + 1} ('${config.id}') is the key of '${other.consumer.id}' again; give each its own`,
      )
    }
    keys.set(digest, compileKey(config, i))
  })
  if (keys.size === 0) throw new Error("'keys' is empty; add at least one key")
  return keys
}

function compileKey(config: ApiKeyConfig['keys'][number], i: number): Key {
  const { id, name = id, groups = [] } = config
  const consumer = consumerOf('api-key', id, { name, groups })
  if (config.expires === undefined) return { consumer, expiresAt: Number.POSITIVE_INFINITY }
  const { expires } = config
  const expiresAt = about(`under 'expires' of key ${i + 1} ('${config.id}'):`, () => parseInstant(expires))
  return { consumer, expiresAt }
}

/** The `www-authenticate` value that says where to put a key. A prefix that is a scheme, as `Bearer `, is its own. */
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
      'send an API key where the www-authenticate field says',
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
