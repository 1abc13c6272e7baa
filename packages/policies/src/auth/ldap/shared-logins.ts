import { createHmac } from 'node:crypto'
import { type CompileEnv, type HttpAnswer, parseDuration } from '@sluice/core'
import { KeyedDigest } from '../../identity/consumers/keyed-digest.js'
import { AnswerTier } from '../../shared/call/answer-cache.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { DirectoryUser } from './directory.js'
import type { LdapConfig } from './schema.js'

/**
 * Number of operations that other workers may have to wait for: connection, service bind, search and user
 * bind.
 */
const OPERATIONS = 4

const NO_FIELDS = { headers: [] }
const NO_BODY = new Uint8Array(0)

/**
 * Opens the cache of logins that the workers of a gateway share, or returns null if each worker caches for itself.
 * Never uses a cluster store: anyone who can write to it could log in as anybody.
 */
export function openLoginTier(config: LdapConfig, env: CompileEnv): AnswerTier | null {
  const { cache = {}, timeouts = {} } = config
  const ttlMs = parseDuration(cache.ttl ?? '60s')
  if (cache.scope === 'worker' || ttlMs === 0) return null
  const operationMs = parseDuration(timeouts.operation ?? '2s')
  return new AnswerTier(env, {
    scope: 'gateway',
    space: 'ldap',
    timeoutMs: parseDuration(timeouts.connect ?? '1s') + OPERATIONS * operationMs,
    maxMs: Math.max(ttlMs, parseDuration(cache.negativeTtl ?? '10s')),
    downEvent: 'ldap_store_down',
  })
}

/**
 * Returns the digest that makes a cache key of a Basic token. Its key comes from a secret that only the workers of
 * this gateway have, so stored entries cannot be used to test passwords.
 * @param name name that identifies the directory configuration. It contains the account's password.
 */
export function loginDigest(name: string, env: CompileEnv): KeyedDigest {
  const key = createHmac('sha512', env.state.secret).update(name).digest()
  return new KeyedDigest(key.map((byte) => byte & 0x7f))
}

/**
 * Encodes a login as an HTTP response for other workers: 401 if refused, otherwise 200 with `{ id, name,
 * groups: [text], claims: [[name, value]] }`.
 */
export function encodeLogin(user: DirectoryUser | null): HttpAnswer {
  if (user === null) return { status: 401, ...NO_FIELDS, body: NO_BODY }
  const body = Buffer.from(JSON.stringify({ ...user, claims: [...user.claims] }))
  return { status: 200, ...NO_FIELDS, body }
}

/** Decodes a login. Returns null if it was refused. @throws Error if the entry is malformed. */
export function decodeLogin({ status, body }: HttpAnswer): DirectoryUser | null {
  if (status === 401 && body.length === 0) return null
  const said = status === 200 ? parseStrictObject(body) : null
  if (said === null) throw new Error('not a valid login')
  const [id, name] = [memberOf(said, 'id'), memberOf(said, 'name')]
  const [groups, claims] = [memberOf(said, 'groups'), memberOf(said, 'claims')]
  if (!isText(id) || id === '' || !isText(name)) throw new Error('a login without an id or a name')
  if (!isList(groups, isText) || !isList(claims, isPair))
    throw new Error('a login with invalid groups or claims')
  return { id, name, groups, claims: new Map(claims) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isPair(value: unknown): value is readonly [string, string] {
  return isList(value, isText) && value.length === 2
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isItem)
}
