import { CONSUMERS, type DocumentDraft, filled } from '../draft.js'
import { protectionRemedy } from './directive-kinds.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'
import { ADDRESS, expressionOf } from './values.js'

/** Policies that protect a location, and the protections that could not be mapped. */
export interface Access {
  readonly policies: readonly string[]
  readonly unprotected: readonly string[]
}

const ALL = ['0.0.0.0/0', '::/0']

/** Maps the directives that limit and restrict access to a location. */
export class AccessMapping {
  readonly #draft: DocumentDraft
  readonly #http: Scope

  constructor(draft: DocumentDraft, http: Scope) {
    this.#draft = draft
    this.#http = http
  }

  /** Returns the policies of a location, in the order in which nginx applies them. */
  protect(scope: Scope): Access {
    const unprotected: string[] = []
    const policies = [...this.#limits(scope, unprotected), ...this.#rules(scope, unprotected)]
    for (const one of scope.protections().filter((protection) => !scope.use.mapped.has(protection)))
      unprotected.push(scope.use.leaveUnprotected(one, 'it is not mapped', protectionRemedy(one.name)))
    return { policies, unprotected }
  }

  #limits(scope: Scope, unprotected: string[]): string[] {
    const add = (directive: Directive, policy: string | null, use: string): string[] => {
      if (policy !== null) return [policy]
      const reason = 'the zone or its key is not mapped'
      unprotected.push(scope.use.leaveUnprotected(directive, reason, `use the policy ${use}`))
      return []
    }
    return [
      ...scope
        .list('limit_conn')
        .flatMap((one) => add(one, this.#connectionLimit(one, scope), 'concurrency-limit')),
      ...scope.list('limit_req').flatMap((one) => add(one, this.#requestLimit(one, scope), 'rate-limit')),
    ]
  }

  #requestLimit(directive: Directive, scope: Scope): string | null {
    const { zone: name, burst, nodelay } = settingsOf(directive)
    const zone = this.#zone('limit_req_zone', name)
    const key = keyOf(zone?.args[0])
    const [, rate, unit] = /^(\d+)r\/([sm])$/.exec(settingsOf(zone)['rate'] ?? '') ?? []
    const dryRun = scope.value('limit_req_dry_run') === 'on' || undefined
    if (zone === undefined || key === null || rate === undefined) return null
    if (nodelay === undefined && burst !== undefined)
      scope.use.note(directive, 'requests within the burst are sent at once, without delay')
    const limit = { limit: `${rate}/${unit}`, burst: Number(burst ?? 0) + 1, key, headers: 'off', dryRun }
    return this.#draft.addPolicy(`limit-${name}`, 'rate-limit', limit)
  }

  #connectionLimit(directive: Directive, { use }: Scope): string | null {
    const [name, limit] = directive.args
    const key = keyOf(this.#zone('limit_conn_zone', name)?.args[0])
    if ((key !== 'client.ip' && key !== 'req.host') || !/^\d+$/.test(limit ?? '')) return null
    use.note(directive, 'the limit applies to each worker', 'divide it by the number of workers')
    const keys = key === 'client.ip' ? ['ip'] : ['header:host']
    const options = { limit: Math.max(1, Number(limit)), key: keys, name }
    return this.#draft.addPolicy(`connections-${name}`, 'concurrency-limit', options)
  }

  #zone(directive: string, name: string | undefined): Directive | undefined {
    return this.#http.own(directive).find((one) => settingsOf(one)['zone']?.split(':')[0] === name)
  }

  /** Maps `allow`, `deny` and `auth_basic`. */
  #rules(scope: Scope, unprotected: string[]): string[] {
    const rules = scope.list('allow', 'deny').filter(({ args: [address] }) => address !== 'unix:')
    const isClear = ({ args: [address = ''] }: Directive): boolean =>
      address === 'all' || ADDRESS.test(address)
    const unclear = rules.find((one) => !isClear(one))
    const filter = unclear === undefined ? this.#filter(rules) : null
    if (filter === null) {
      const reason = unclear === undefined ? 'the order is not supported' : 'it is not an address or range'
      const remedy = 'use the policy ip-filter, with when: inCidr(…) if the order matters'
      unprotected.push(scope.use.leaveUnprotected(unclear ?? rules[0]!, reason, remedy))
    }
    const users = this.#users(scope)
    const login = users === null ? [] : [this.#draft.addPolicy('login', 'basic-auth', users)]
    return [...(filter ?? []), ...login]
  }

  #users(scope: Scope): Readonly<Record<string, unknown>> | null {
    const directive = scope.find('auth_basic')
    const file = scope.find('auth_basic_user_file')
    if (directive === undefined || directive.args[0] === 'off') return null
    scope.use.note(
      file ?? directive,
      'password hashes of nginx cannot be converted; callers are refused until they are in consumers.jsonl',
      'gw consumer add NAME --password',
    )
    const realm = directive.args[0] ?? ''
    return {
      ...(/^[\x20-\x7e]+$/.test(realm) && !/[$"\\]/.test(realm) && { realm }),
      consumers: CONSUMERS,
      stripCredentials: false,
    }
  }

  /** Returns the policies for a list of rules, of which nginx applies the first that matches, or null. */
  #filter(rules: readonly Directive[]): string[] | null {
    const allow = addressesOf(rules, 'allow')
    const deny = addressesOf(rules, 'deny')
    const shape = rules.map(({ name, args }) => `${name[0]}${args[0] === 'all' ? '!' : ''}`).join('')
    const add = (options: object): string[] => [
      this.#draft.addPolicy('addresses', 'ip-filter', { ...options }),
    ]
    if (!shape.includes('d') || shape.startsWith('a!')) return []
    if (shape.startsWith('d!')) return add({ deny: ALL })
    if (/^d+(a!)?$/.test(shape)) return add({ deny })
    return /^d*a+d!$/.test(shape) ? add({ allow, deny: filled(deny) }) : null
  }
}

function addressesOf(rules: readonly Directive[], name: string): string[] {
  return rules.flatMap((one) => (one.name === name && one.args[0] !== 'all' ? [one.args[0]!] : []))
}

/** Returns the settings of a directive: `zone=a` as a value, `nodelay` as an empty text. */
function settingsOf(directive: Directive | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (directive?.args ?? []).map((one) => {
      const at = one.indexOf('=')
      return at < 0 ? [one, ''] : [one.slice(0, at), one.slice(at + 1)]
    }),
  )
}

/** Returns the expression of a zone's key, or null. */
function keyOf(text = ''): string | string[] | null {
  const parts = text.match(/\$\{?\w+\}?/g) ?? []
  const keys = parts.map(expressionOf).filter((key) => key !== null)
  if (parts.join('') !== text || keys.length === 0 || keys.length < parts.length) return null
  return keys.length === 1 ? keys[0]! : keys
}
