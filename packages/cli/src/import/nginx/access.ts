import { CONSUMERS, type DocumentDraft } from '../draft.js'
import { protectionRemedy } from './directive-kinds.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'
import { ADDRESS, expressionOf } from './values.js'

/** Policies that protect a location, and the protections that could not be mapped. */
export interface Access {
  readonly policies: readonly (string | object)[]
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
    for (const directive of scope.protections().filter((one) => !scope.use.isMapped(one)))
      unprotected.push(
        scope.use.leaveUnprotected(directive, 'it is not mapped', protectionRemedy(directive.name)),
      )
    return { policies, unprotected }
  }

  #limits(scope: Scope, unprotected: string[]): string[] {
    const requests = scope.list('limit_req').map((one) => this.#requestLimit(one, scope))
    const connections = scope.list('limit_conn').map((one) => this.#connectionLimit(one, scope))
    const all = [...connections, ...requests]
    unprotected.push(...all.flatMap((one) => ('missing' in one ? [one.missing] : [])))
    return all.flatMap((one) => ('policy' in one ? [one.policy] : []))
  }

  #requestLimit(directive: Directive, scope: Scope): { policy: string } | { missing: string } {
    const settings = settingsOf(directive)
    const zone = this.#zone('limit_req_zone', settings['zone'])
    const key = keyOf(zone?.args[0])
    const [, rate, unit] = /^(\d+)r\/([sm])$/.exec(settingsOf(zone)['rate'] ?? '') ?? []
    const { use } = scope
    const isDry = scope.value('limit_req_dry_run') === 'on'
    if (zone === undefined || key === null || rate === undefined)
      return {
        missing: use.leaveUnprotected(
          directive,
          'the zone or its key is not mapped',
          'use the policy rate-limit',
        ),
      }
    if (settings['nodelay'] === undefined && settings['burst'] !== undefined)
      use.note(directive, 'requests within the burst are sent at once, without delay')
    const options = {
      limit: `${rate}/${unit}`,
      burst: Number(settings['burst'] ?? 0) + 1,
      key,
      headers: 'off',
      ...(isDry && { dryRun: true }),
    }
    return { policy: this.#draft.addPolicy(`limit-${settings['zone']}`, 'rate-limit', options) }
  }

  #connectionLimit(directive: Directive, { use }: Scope): { policy: string } | { missing: string } {
    const [name, limit] = directive.args
    const key = keyOf(this.#zone('limit_conn_zone', name)?.args[0])
    if ((key !== 'client.ip' && key !== 'req.host') || !/^\d+$/.test(limit ?? ''))
      return {
        missing: use.leaveUnprotected(
          directive,
          'the zone or its key is not mapped',
          'use the policy concurrency-limit',
        ),
      }
    use.note(directive, 'the limit applies to each worker', 'divide it by the number of workers')
    const options = {
      limit: Math.max(1, Number(limit)),
      key: key === 'client.ip' ? ['ip'] : ['header:host'],
      name,
    }
    return { policy: this.#draft.addPolicy(`connections-${name}`, 'concurrency-limit', options) }
  }

  #zone(directive: string, name: string | undefined): Directive | undefined {
    return this.#http.own(directive).find((one) => settingsOf(one)['zone']?.split(':')[0] === name)
  }

  /** Maps `allow`, `deny`, `auth_basic` and `satisfy`. */
  #rules(scope: Scope, unprotected: string[]): (string | object)[] {
    const rules = scope.list('allow', 'deny').filter(({ args: [address] }) => address !== 'unix:')
    const unclear = rules.filter(({ args: [address = ''] }) => address !== 'all' && !ADDRESS.test(address))
    for (const one of unclear)
      unprotected.push(scope.use.leaveUnprotected(one, 'it is not an address or range'))
    if (unclear.length > 0) return []
    const isAny = scope.value('satisfy') === 'any'
    const users = this.#users(scope)
    if (users === null) return this.#filter(rules)
    // With 'satisfy any', only an address that a rule allows needs no password.
    const denied = deniedExpression(rules, !isAny)
    if (isAny && rules.length > 0 && denied === null) return []
    if (isAny && rules.length > 0) return [{ use: 'basic-auth', with: users, when: denied }]
    const login = this.#draft.addPolicy('login', 'basic-auth', users)
    return [...this.#filter(rules), login]
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

  /** Returns the policies for a list of rules. nginx applies the first rule that matches. */
  #filter(rules: readonly Directive[]): (string | object)[] {
    const allow = addressesOf(rules, 'allow')
    const deny = addressesOf(rules, 'deny')
    const shape = rules.map(({ name, args }) => `${name[0]}${args[0] === 'all' ? '!' : ''}`).join('')
    const add = (options: object): string[] => [
      this.#draft.addPolicy('addresses', 'ip-filter', { ...options }),
    ]
    if (!shape.includes('d')) return []
    if (shape.startsWith('d!')) return add({ deny: ALL })
    if (/^d+(a!)?$/.test(shape)) return add({ deny })
    if (/^d*a+d!$/.test(shape)) return add({ allow, ...(deny.length > 0 && { deny }) })
    const when = deniedExpression(rules, true)
    return when === null ? [] : [{ use: 'ip-filter', with: { deny: ALL }, when }]
  }
}

function addressesOf(rules: readonly Directive[], name: string): string[] {
  return rules.flatMap((one) => (one.name === name && one.args[0] !== 'all' ? [one.args[0]!] : []))
}

/**
 * Returns the condition under which rules deny a request, or null if they deny none.
 * @param allowsOthers true if addresses that no rule names are allowed
 */
function deniedExpression(rules: readonly Directive[], allowsOthers: boolean): string | null {
  const text = [...rules].reverse().reduce((rest, { name, args: [address] }) => {
    const verdict = name === 'deny' ? 'true' : 'false'
    if (address === 'all') return verdict
    const matches = `inCidr(client.ip, ${JSON.stringify([address])})`
    return rest === verdict
      ? rest
      : verdict === 'true'
        ? `${matches} || (${rest})`
        : `!${matches} && (${rest})`
  }, String(!allowsOthers))
  return text === 'false' ? null : text
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
function keyOf(text: string | undefined): string | string[] | null {
  if (text === undefined) return null
  const parts = text.match(/\$\{?\w+\}?/g) ?? []
  const keys = parts.map(expressionOf)
  if (parts.join('') !== text || keys.length === 0) return null
  const known = keys.filter((key) => key !== null)
  if (known.length < keys.length) return null
  return known.length === 1 ? known[0]! : known
}
