import { createHmac } from 'node:crypto'
import { type CompileEnv, type HttpAnswer, parseDuration } from '@sluice/core'
import { memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import type { Found } from '../../shared/call-cache.js'
import { SharedAnswerCache, type SharedCall } from '../../shared/shared-answer-cache.js'
import type { DirectoryUser } from './directory.js'
import type { LdapConfig } from './schema.js'

/** So many operations of a login others wait for: for a connection, the bind of the account, a search, the bind of the user. */
const OPERATIONS = 4

const NO_FIELDS = { headers: [] }
const NO_BODY = new Uint8Array(0)

/**
 * What the workers of a gateway remember together, in the memory of its supervisor, by HMAC of the Basic token under a key
 * that they alone have: nobody can try passwords on what is stored.
 */
export class SharedLogins {
  readonly #tier: SharedAnswerCache
  readonly #key: Uint8Array

  constructor(tier: SharedAnswerCache, key: Uint8Array) {
    this.#tier = tier
    this.#key = key
  }

  /** What is known of a login, or what one worker asks for all. Rejects as `ask` does. */
  get<T>(token: string, call: SharedCall<T>): Promise<Found<T>> {
    return this.#tier.get(createHmac('sha256', this.#key).update(token).digest('base64url'), call)
  }
}

/**
 * Never in a store of the cluster: whoever could write into it could let anybody in. Null: each worker remembers by itself.
 * @param name all that says what a login is; other logins are other names.
 */
export function openSharedLogins(config: LdapConfig, name: string, env: CompileEnv): SharedLogins | null {
  const { cache = {}, timeouts = {} } = config
  if (cache.scope === 'worker' || parseDuration(cache.ttl ?? '60s') === 0) return null
  const operationMs = parseDuration(timeouts.operation ?? '2s')
  const timeoutMs = parseDuration(timeouts.connect ?? '1s') + OPERATIONS * operationMs
  const onDown = (error: string): void => env.report('ldap_store_down', { error })
  const tier = new SharedAnswerCache(env.state.store('gateway'), { space: 'ldap', timeoutMs, onDown })
  // The name is in the key and not in the space: the password of the account could be guessed by a digest of it.
  return new SharedLogins(tier, createHmac('sha256', env.state.secret).update(name).digest())
}

/**
 * Who has logged in, as the workers of a gateway tell each other, in the shape of an answer to a request: 401 for nobody,
 * else 200 with `{ id, name, groups: [text], claims: [[name, value]] }`.
 */
export function answerOf(user: DirectoryUser | null): HttpAnswer {
  if (user === null) return { status: 401, ...NO_FIELDS, body: NO_BODY }
  const body = Buffer.from(JSON.stringify({ ...user, claims: [...user.claims] }))
  return { status: 200, ...NO_FIELDS, body }
}

/** Null: nobody. @throws Error for what no worker has said. */
export function userIn({ status, body }: HttpAnswer): DirectoryUser | null {
  if (status === 401 && body.length === 0) return null
  const said = status === 200 ? parseStrictObject(body) : null
  if (said === null) throw new Error('says nothing of a login')
  const [id, name] = [memberOf(said, 'id'), memberOf(said, 'name')]
  const [groups, claims] = [memberOf(said, 'groups'), memberOf(said, 'claims')]
  if (!isText(id) || id === '' || !isText(name)) throw new Error('says of nobody that they have logged in')
  if (!isList(groups, isText) || !isList(claims, isPair))
    throw new Error('has groups or claims that are none')
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
