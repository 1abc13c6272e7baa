import { createHmac } from 'node:crypto'
import { type CompileEnv, type HttpAnswer, parseDuration } from '@sluice/core'
import type { Found } from '../../shared/call/call-cache.js'
import { SharedAnswerCache, type SharedCall } from '../../shared/call/shared-answer-cache.js'
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
 * Logins shared by the workers of a gateway, in the memory of the supervisor. The key is an HMAC of the Basic
 * token with a secret that only the workers have, so stored entries cannot be used to test passwords.
 */
export class SharedLogins {
  readonly #tier: SharedAnswerCache
  readonly #key: Uint8Array

  constructor(tier: SharedAnswerCache, key: Uint8Array) {
    this.#tier = tier
    this.#key = key
  }

  /** Returns a cached login, or lets one worker call for all. Rejects with the error of `ask`. */
  get<T>(token: string, call: SharedCall<T>): Promise<Found<T>> {
    return this.#tier.get(createHmac('sha256', this.#key).update(token).digest('base64url'), call)
  }
}

/**
 * Opens the shared cache, or returns null if each worker caches for itself. Never uses a cluster store:
 * anyone who can write to it could log in as anybody.
 * @param name name that identifies the directory configuration.
 */
export function openSharedLogins(config: LdapConfig, name: string, env: CompileEnv): SharedLogins | null {
  const { cache = {}, timeouts = {} } = config
  if (cache.scope === 'worker' || parseDuration(cache.ttl ?? '60s') === 0) return null
  const operationMs = parseDuration(timeouts.operation ?? '2s')
  const timeoutMs = parseDuration(timeouts.connect ?? '1s') + OPERATIONS * operationMs
  const onDown = (error: string): void => env.report('ldap_store_down', { error })
  const tier = new SharedAnswerCache(env.state.store('gateway'), { space: 'ldap', timeoutMs, onDown })
  // The name is part of the HMAC key and not of the space, because it contains the account's password, which
  // could be guessed from a digest.
  return new SharedLogins(tier, createHmac('sha256', env.state.secret).update(name).digest())
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
